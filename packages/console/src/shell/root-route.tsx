/* The root of the routes, and the frame that every page of a signed-in admin stands in. */
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet } from '@tanstack/react-router'
import { SparklesFillIcon } from '@primer/octicons-react'
import { EmptyState, ErrorState } from '../kit/states.tsx'
import { Frame } from './frame.tsx'
import { useSession } from './session.ts'
import { texts } from './texts.ts'

/** What every route can read. */
export interface RouterContext {
  readonly queryClient: QueryClient
}

export const rootRoute = createRootRouteWithContext<RouterContext>()({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => <ErrorState error={error} onRetry={reset} isPage />,
})

/** The parent of every page that needs a session. */
export const frameRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'frame',
  component: () => (
    <Frame>
      <Outlet />
    </Frame>
  ),
})

/** In the frame, so that its palette and navigation lead on; whoever is not signed in has neither. */
function NotFound() {
  const session = useSession()
  const told = (
    <EmptyState icon={SparklesFillIcon} title={texts.notFound} isPage>
      {texts.notFoundHelp}
    </EmptyState>
  )
  return session === null || session === undefined ? told : <Frame>{told}</Frame>
}
