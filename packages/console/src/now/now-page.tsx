import { Page } from '../kit/page.tsx'

export function NowPage() {
  return <Page title="Now">{null}</Page>
}
