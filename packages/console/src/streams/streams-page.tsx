import { Page } from '../kit/page.tsx'

export function StreamsPage() {
  return <Page title="Streams">{null}</Page>
}
