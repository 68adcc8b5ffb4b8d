/* Creates a webhook. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { postWebhooks } from '../api/generated/sdk.gen.ts'
import type { CreateWebhookInput, WebhookWithSecret } from '../api/generated/types.gen.ts'
import { Page } from '../kit/page.tsx'
import { IssuedSecretDialog } from '../kit/secret.tsx'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'
import { WebhookForm } from './webhook-form.tsx'

export function NewWebhookPage() {
  const navigate = useNavigate()
  const [created, setCreated] = useState<WebhookWithSecret>()
  const open = ({ id }: WebhookWithSecret) =>
    void navigate({ to: '/signals/webhooks/$webhookId', params: { webhookId: id } })
  const create = useAction({
    run: async (body: CreateWebhookInput) =>
      (await postWebhooks({ body, throwOnError: true })).data,
    done: ({ name }) => texts.created(name),
    changes: [['webhooks']],
    showsFailure: true,
    onDone: (webhook) => {
      if (webhook.secret === null) open(webhook)
      else setCreated(webhook)
    },
  })
  const secret = created?.secret ?? null
  return (
    <Page
      title={texts.form.newTitle}
      lead={texts.lead}
      above={[{ label: texts.title, to: '/signals/webhooks' }]}
    >
      <WebhookForm
        label={texts.create}
        isPending={create.isPending || create.isSuccess}
        error={create.error}
        onSubmit={create.mutate}
        onCancel={() => void navigate({ to: '/signals/webhooks' })}
      />
      {created === undefined || secret === null ? null : (
        <IssuedSecretDialog
          title={texts.form.issuedTitle(created.name)}
          secrets={[{ name: texts.form.secret, value: secret }]}
          isKept
          onClose={() => open(created)}
        >
          {texts.form.issuedLead}
        </IssuedSecretDialog>
      )}
    </Page>
  )
}
