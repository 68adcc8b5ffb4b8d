/* Changes a webhook. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { patchWebhooksById } from '../api/generated/sdk.gen.ts'
import type { UpdateWebhookInput, Webhook } from '../api/generated/types.gen.ts'
import { Page } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'
import { WebhookForm } from './webhook-form.tsx'
import { webhookQuery } from './webhook-queries.ts'

export function EditWebhookPage() {
  const { webhookId } = useParams({ from: '/frame/signals/webhooks/$webhookId/edit' })
  const query = useQuery(webhookQuery(webhookId))
  return (
    <Loaded query={query}>{(webhook) => <EditWebhook key={webhook.id} webhook={webhook} />}</Loaded>
  )
}

function EditWebhook({ webhook }: { readonly webhook: Webhook }) {
  const navigate = useNavigate()
  const { id, name } = webhook
  const open = () =>
    void navigate({ to: '/signals/webhooks/$webhookId', params: { webhookId: id } })
  const change = useAction({
    run: (body: UpdateWebhookInput) =>
      patchWebhooksById({ path: { id }, body, throwOnError: true }),
    done: texts.saved,
    changes: [['webhooks']],
    showsFailure: true,
    onDone: open,
  })
  return (
    <Page
      title={texts.form.editTitle(name)}
      above={[
        { label: texts.title, to: '/signals/webhooks' },
        { label: name, to: `/signals/webhooks/${id}` },
      ]}
    >
      <WebhookForm
        webhook={webhook}
        label={texts.save}
        isPending={change.isPending}
        error={change.error}
        onSubmit={change.mutate}
        onCancel={open}
      />
    </Page>
  )
}
