import { Page } from '../kit/page.tsx'

export function PeoplePage() {
  return <Page title="People">{null}</Page>
}
