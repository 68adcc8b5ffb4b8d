/* Creates a stream. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { postSsfStreams } from '../api/generated/sdk.gen.ts'
import type { CreateStreamInput, CreatedStream } from '../api/generated/types.gen.ts'
import { Page } from '../kit/page.tsx'
import { IssuedSecretDialog } from '../kit/secret.tsx'
import { useAction } from '../kit/use-action.ts'
import { toNewStream } from './form-values.ts'
import { StreamForm } from './stream-form.tsx'
import { texts } from './texts.ts'

export function NewStreamPage() {
  const navigate = useNavigate()
  const [created, setCreated] = useState<CreatedStream>()
  const open = ({ id }: CreatedStream) =>
    void navigate({ to: '/signals/streams/$streamId', params: { streamId: id } })
  const create = useAction({
    run: async (body: CreateStreamInput) =>
      (await postSsfStreams({ body, throwOnError: true })).data,
    done: ({ name }) => texts.created(name),
    changes: [['ssf_streams']],
    showsFailure: true,
    onDone: (stream) => {
      if (stream.poll_bearer_token === undefined) open(stream)
      else setCreated(stream)
    },
  })
  const token = created?.poll_bearer_token
  return (
    <Page
      title={texts.form.newTitle}
      lead={texts.form.newLead}
      above={[{ label: texts.title, to: '/signals/streams' }]}
    >
      <StreamForm
        label={texts.create}
        isPending={create.isPending || create.isSuccess}
        error={create.error}
        onSubmit={(values) => create.mutate(toNewStream(values))}
        onCancel={() => void navigate({ to: '/signals/streams' })}
      />
      {created === undefined || token === undefined ? null : (
        <IssuedSecretDialog
          title={texts.form.issuedTitle(created.name)}
          secrets={[{ name: texts.form.pollToken, value: token }]}
          onClose={() => open(created)}
        >
          {texts.form.issuedLead}
        </IssuedSecretDialog>
      )}
    </Page>
  )
}
