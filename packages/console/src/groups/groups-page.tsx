import { Page } from '../kit/page.tsx'

export function GroupsPage() {
  return <Page title="Groups">{null}</Page>
}
