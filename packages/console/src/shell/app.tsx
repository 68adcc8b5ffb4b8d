/* The console: its theme, its cache of answers, its routes. */
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRouter, RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { ApiError } from '../api/client.ts'
import '../api/query-keys.ts'
import { resolveVariables, theme } from '../design/theme.ts'
import { ErrorState } from '../kit/states.tsx'
import { routeTree } from './route-tree.ts'
import { SessionGuard } from './session-guard.tsx'

/** Answers are good for so long; what changes meanwhile is told by the live connection. */
const FRESH_MS = 30_000

/** Nothing waits for a network, to be sent when nobody wants it any more: it is tried, and what failed is told. */
const WITHOUT_NETWORK = { networkMode: 'always' } as const

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < retriesOf(error),
      ...WITHOUT_NETWORK,
      refetchOnReconnect: true,
    },
    mutations: WITHOUT_NETWORK,
  },
})

/**
 * How often it is worth trying again: not when the service has judged the request, and once when it says that it
 * failed.
 */
function retriesOf(error: Error): number {
  const status = error instanceof ApiError ? error.status : 0
  if (status === 0) return 3
  return status >= 500 ? 1 : 0
}

const router = createRouter({
  routeTree,
  basepath: '/console',
  context: { queryClient },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  // What a page holds of one record, such as a secret that was revealed, never stays for the next.
  defaultRemountDeps: ({ params }) => params,
  scrollRestoration: true,
  defaultErrorComponent: ({ error, reset }) => <ErrorState error={error} onRetry={reset} isPage />,
})

// Dialogs keep the page behind them from scrolling by a style of their own.
setNonce(readNonce())

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      defaultColorScheme="auto"
      getStyleNonce={readNonce}
    >
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" autoClose={6000} />
        <SessionGuard>
          <RouterProvider router={router} />
        </SessionGuard>
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** What the page may load styles with; Vite leaves it in the page, where scripts of others cannot read it. */
function readNonce(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')
  return meta?.nonce ?? ''
}
