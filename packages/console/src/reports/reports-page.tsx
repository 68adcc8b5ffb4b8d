import { Page } from '../kit/page.tsx'

export function ReportsPage() {
  return <Page title="Reports">{null}</Page>
}
