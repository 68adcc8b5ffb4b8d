import { Page } from '../kit/page.tsx'

export function SignInsPage() {
  return <Page title="Sign-ins">{null}</Page>
}
