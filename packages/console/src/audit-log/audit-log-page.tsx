import { Page } from '../kit/page.tsx'

export function AuditLogPage() {
  return <Page title="Audit log">{null}</Page>
}
