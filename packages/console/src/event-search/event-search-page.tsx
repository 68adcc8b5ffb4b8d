import { Page } from '../kit/page.tsx'

export function EventSearchPage() {
  return <Page title="Where is my event">{null}</Page>
}
