/* Creates an SSF client. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { postSsfClients } from '../api/generated/sdk.gen.ts'
import type { CreateSsfClientInput, IssuedSsfClient } from '../api/generated/types.gen.ts'
import { Page } from '../kit/page.tsx'
import { useAction } from '../kit/use-action.ts'
import { IssuedClientDialog } from './issued-client-dialog.tsx'
import { SsfClientForm } from './ssf-client-form.tsx'
import { texts } from './texts.ts'

export function NewSsfClientPage() {
  const navigate = useNavigate()
  const [issued, setIssued] = useState<IssuedSsfClient>()
  const open = ({ id }: IssuedSsfClient) =>
    void navigate({ to: '/signals/clients/$clientId', params: { clientId: id } })
  const create = useAction({
    run: async (body: CreateSsfClientInput) =>
      (await postSsfClients({ body, throwOnError: true })).data,
    done: ({ name }) => texts.createdDone(name),
    changes: [['ssf_clients']],
    showsFailure: true,
    onDone: (client) => {
      if (client.client_secret === null) open(client)
      else setIssued(client)
    },
  })
  return (
    <Page
      title={texts.form.newTitle}
      lead={texts.lead}
      above={[{ label: texts.title, to: '/signals/clients' }]}
    >
      <SsfClientForm
        label={texts.create}
        isPending={create.isPending || create.isSuccess}
        error={create.error}
        onSubmit={create.mutate}
        onCancel={() => void navigate({ to: '/signals/clients' })}
      />
      <IssuedClientDialog issued={issued} onClose={open} />
    </Page>
  )
}
