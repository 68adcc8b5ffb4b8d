import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { Page, type PageAbove } from './page.tsx'
import { isClosed, Loaded, type LoadedProps } from './states.tsx'

interface LoadedPageProps<Data> extends Omit<LoadedProps<Data>, 'height'> {
  /** Stands until the name of the thing is known. */
  readonly title: string
  readonly above: PageAbove
}

/** A page of something that is read first. */
export function LoadedPage<Data>(props: LoadedPageProps<Data>): ReactNode {
  const { query, title, above, children } = props
  const loaded = (
    <Loaded query={query} height={320}>
      {children}
    </Loaded>
  )
  const isGone =
    isClosed(query.error) || (query.error instanceof ApiError && query.error.status === 404)
  if (query.data !== undefined && !isGone) return loaded
  return (
    <Page title={title} above={above}>
      {loaded}
    </Page>
  )
}
