import { Page } from '../kit/page.tsx'

export function SigningKeysPage() {
  return <Page title="Signing keys">{null}</Page>
}
