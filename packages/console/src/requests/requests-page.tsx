import { Page } from '../kit/page.tsx'

export function RequestsPage() {
  return <Page title="Requests">{null}</Page>
}
