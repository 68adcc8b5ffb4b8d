import { Page } from '../kit/page.tsx'

export function WebhooksPage() {
  return <Page title="Webhooks">{null}</Page>
}
