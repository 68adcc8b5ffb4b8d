/* All webhooks. */
import { Page } from '../kit/page.tsx'
import { texts } from './texts.ts'
import { WebhooksList } from './webhooks-list.tsx'

export function WebhooksPage() {
  return (
    <Page title={texts.title} lead={texts.lead} isFilling>
      <WebhooksList />
    </Page>
  )
}
