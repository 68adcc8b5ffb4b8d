/* While something is looked up that nobody is asked for, and while the sign-in goes on to a page. */
import { Loader } from '@mantine/core'
import { usePageTitle } from '../kit/page.tsx'
import { texts } from './texts.ts'

export function Looking() {
  usePageTitle(texts.loading)
  return <Loader role="status" aria-label={texts.loading} />
}
