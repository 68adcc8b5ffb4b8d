import { Page } from '../kit/page.tsx'

export function LiveQueriesPage() {
  return <Page title="Live queries">{null}</Page>
}
