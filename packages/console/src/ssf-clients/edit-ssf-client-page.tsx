/* Changes an SSF client. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { patchSsfClientsById } from '../api/generated/sdk.gen.ts'
import type { SsfClient, UpdateSsfClientInput } from '../api/generated/types.gen.ts'
import { Page } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { useAction } from '../kit/use-action.ts'
import { SsfClientForm } from './ssf-client-form.tsx'
import { ssfClientQuery } from './ssf-client-query.ts'
import { texts } from './texts.ts'

export function EditSsfClientPage() {
  const { clientId } = useParams({ from: '/frame/signals/clients/$clientId/edit' })
  const query = useQuery(ssfClientQuery(clientId))
  return (
    <Loaded query={query}>{(client) => <EditSsfClient key={client.id} client={client} />}</Loaded>
  )
}

function EditSsfClient({ client }: { readonly client: SsfClient }) {
  const navigate = useNavigate()
  const { id, name } = client
  const open = () => void navigate({ to: '/signals/clients/$clientId', params: { clientId: id } })
  const change = useAction({
    run: (body: UpdateSsfClientInput) =>
      patchSsfClientsById({ path: { id }, body, throwOnError: true }),
    done: texts.saved,
    changes: [['ssf_clients']],
    showsFailure: true,
    onDone: open,
  })
  return (
    <Page
      title={texts.form.editTitle(name)}
      above={[
        { label: texts.title, to: '/signals/clients' },
        { label: name, to: `/signals/clients/${id}` },
      ]}
    >
      <SsfClientForm
        client={client}
        label={texts.save}
        isPending={change.isPending}
        error={change.error}
        onSubmit={change.mutate}
        onCancel={open}
      />
    </Page>
  )
}
