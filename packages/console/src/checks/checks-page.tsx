import { Page } from '../kit/page.tsx'

export function ChecksPage() {
  return <Page title="Checks">{null}</Page>
}
