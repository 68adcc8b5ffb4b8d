/* Changes a stream. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { patchSsfStreamsById } from '../api/generated/sdk.gen.ts'
import type { Stream, UpdateStreamInput } from '../api/generated/types.gen.ts'
import { Page } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { useAction } from '../kit/use-action.ts'
import { toStreamChange } from './form-values.ts'
import { StreamForm } from './stream-form.tsx'
import { streamQuery } from './stream-queries.ts'
import { texts } from './texts.ts'

export function EditStreamPage() {
  const { streamId } = useParams({ from: '/frame/signals/streams/$streamId/edit' })
  const query = useQuery(streamQuery(streamId))
  return <Loaded query={query}>{(stream) => <EditStream key={stream.id} stream={stream} />}</Loaded>
}

function EditStream({ stream }: { readonly stream: Stream }) {
  const navigate = useNavigate()
  const { id, name } = stream
  const open = () => void navigate({ to: '/signals/streams/$streamId', params: { streamId: id } })
  const change = useAction({
    run: (body: UpdateStreamInput) =>
      patchSsfStreamsById({ path: { id }, body, throwOnError: true }),
    done: texts.saved,
    changes: [['ssf_streams']],
    showsFailure: true,
    onDone: open,
  })
  return (
    <Page
      title={texts.form.editTitle(name)}
      above={[
        { label: texts.title, to: '/signals/streams' },
        { label: name, to: `/signals/streams/${id}` },
      ]}
    >
      <StreamForm
        stream={stream}
        label={texts.save}
        isPending={change.isPending}
        error={change.error}
        onSubmit={(values, saved) => change.mutate(toStreamChange(values, saved, stream))}
        onCancel={open}
      />
    </Page>
  )
}
