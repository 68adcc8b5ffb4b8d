/* All streams. */
import { Page } from '../kit/page.tsx'
import { StreamsList } from './streams-list.tsx'
import { texts } from './texts.ts'

export function StreamsPage() {
  return (
    <Page title={texts.title} lead={texts.lead} isFilling>
      <StreamsList />
    </Page>
  )
}
