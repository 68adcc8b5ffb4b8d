import { Page } from '../kit/page.tsx'

export function SsfClientsPage() {
  return <Page title="SSF clients">{null}</Page>
}
