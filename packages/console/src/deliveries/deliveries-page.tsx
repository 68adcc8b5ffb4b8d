import { Page } from '../kit/page.tsx'

export function DeliveriesPage() {
  return <Page title="Deliveries">{null}</Page>
}
