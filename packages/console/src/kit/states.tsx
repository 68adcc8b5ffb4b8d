/* What stands where there is nothing to show: nothing yet, nothing at all, or a failure. */
import { Alert, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core'
import { AlertIcon, ArchiveIcon, LockIcon, type Icon } from '@primer/octicons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { usePageTitle } from './page.tsx'
import classes from './states.module.css'
import { texts } from './texts.ts'
import type { List } from './use-list.ts'

interface EmptyStateProps {
  readonly icon: Icon
  /** What is not there, as a short sentence. */
  readonly title: string
  /** Why, and what makes it appear. */
  readonly children: ReactNode
  readonly action?: ReactNode
  /** It is all that the page has, so its title is the page's. */
  readonly isPage?: boolean
}

/** Says that there is nothing, why, and what to do about it. */
export function EmptyState(props: EmptyStateProps) {
  const { icon: Icon, title, children, action, isPage = false } = props
  return (
    <Stack align="center" gap="xs" className={classes.state}>
      <span className={classes.mark}>
        <Icon size={20} />
      </span>
      <StateTitle title={title} isPage={isPage} />
      <Text c="dimmed" size="sm" ta="center" maw={460}>
        {children}
      </Text>
      {action}
    </Stack>
  )
}

function StateTitle({ title, isPage }: { readonly title: string; readonly isPage: boolean }) {
  usePageTitle(isPage ? title : undefined)
  return (
    <Text component={isPage ? 'h1' : 'p'} fw={650}>
      {title}
    </Text>
  )
}

export interface LoadedProps<Data> {
  readonly query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>
  /** Of what stands there meanwhile, in px; a whole page when left out. */
  readonly height?: number
  readonly children: (data: Data) => ReactNode
}

/**
 * Shows what was read. What has been read once stays with all that is typed into it, also when reading it again
 * fails: a bar above says so. Only what is gone, or may not be read any more, goes.
 */
export function Loaded<Data>({ query, height, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query
  const status = error instanceof ApiError ? error.status : undefined
  const isPage = height === undefined
  if (status === 404) return <Gone wasThere={data !== undefined} isPage={isPage} />
  if (error !== null && (data === undefined || isClosed(error))) {
    return <ErrorState error={error} onRetry={() => void refetch()} isPage={isPage} />
  }
  if (data === undefined) {
    return isPage ? <Skeleton m={28} height={320} /> : <Skeleton height={height} />
  }
  return (
    <>
      {error === null ? null : <Stale error={error} onRetry={() => void refetch()} />}
      {children(data)}
    </>
  )
}

/** Whether a record may not be read any more. A device that is not trusted closes nothing for good. */
export function isClosed(error: Error | null): boolean {
  if (!(error instanceof ApiError)) return false
  return error.status === 403 && error.code !== 'trusted_device_required'
}

/** In place of a record that the service does not have. */
function Gone({ wasThere, isPage }: { readonly wasThere: boolean; readonly isPage: boolean }) {
  const title = wasThere ? texts.deleted : texts.notThere
  return (
    <EmptyState icon={ArchiveIcon} title={title} isPage={isPage}>
      {wasThere ? texts.deletedHelp : texts.notThereHelp}
    </EmptyState>
  )
}

interface StaleListProps {
  readonly list: Pick<List<unknown>, 'items' | 'error' | 'searchFault' | 'retry'>
}

/** Above the rows of a list that could not be read again; the search says itself what is wrong with it. */
export function StaleList({ list: { items, error, searchFault, retry } }: StaleListProps) {
  if (error === null || items.length === 0 || searchFault !== undefined) return null
  return <Stale error={error} onRetry={retry} />
}

/** Above what was read before and could not be read again. */
function Stale({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  return (
    <Alert color="yellow" icon={<AlertIcon />} role="status" m="sm" p="xs">
      <Group gap="sm" justify="space-between">
        <span>
          {texts.stale}: {error.message}
        </span>
        <Button size="compact-sm" variant="default" onClick={onRetry}>
          {texts.retry}
        </Button>
      </Group>
    </Alert>
  )
}

interface ErrorStateProps {
  readonly error: unknown
  readonly onRetry?: () => void
  /** It is all that the page has, so its title is the page's. */
  readonly isPage?: boolean
}

/** Says what failed in the words of the service, and what to quote when asking for help. */
export function ErrorState({ error, onRetry, isPage = false }: ErrorStateProps) {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  const isForbidden = error instanceof Error && isClosed(error)
  const told = error instanceof Error ? error.message : texts.failed
  return (
    <FaultState
      title={titleOf(error)}
      told={isForbidden ? `${told} ${texts.forbiddenHelp}` : told}
      isForbidden={isForbidden}
      isPage={isPage}
    >
      {requestId === undefined ? null : (
        <Group gap={6}>
          <Text size="xs" c="dimmed">
            {texts.requestId}
          </Text>
          <Code>{requestId}</Code>
        </Group>
      )}
      {onRetry === undefined ? null : (
        <Button variant="default" onClick={onRetry}>
          {texts.retry}
        </Button>
      )}
    </FaultState>
  )
}

/** In place of a page that shows only what the admin may not see. */
export function Closed() {
  return <FaultState title={texts.forbidden} told={texts.forbiddenHelp} isForbidden isPage />
}

interface FaultStateProps {
  readonly title: string
  /** What happened, and what follows from it. */
  readonly told: string
  readonly isForbidden?: boolean
  /** It is all that the page has, so its title is the page's. */
  readonly isPage: boolean
  /** What can be done. */
  readonly children?: ReactNode
}

/** Says in place of something that it cannot be shown. */
export function FaultState(props: FaultStateProps) {
  const { title, told, isForbidden = false, isPage, children } = props
  return (
    <Stack align="center" gap="xs" className={classes.state} role="alert">
      <span className={classes.mark} data-bad>
        {isForbidden ? <LockIcon size={20} /> : <AlertIcon size={20} />}
      </span>
      <StateTitle title={title} isPage={isPage} />
      <Text c="dimmed" size="sm" ta="center" maw={520}>
        {told}
      </Text>
      {children}
    </Stack>
  )
}

function titleOf(error: unknown): string {
  if (!(error instanceof ApiError)) return texts.failed
  if (isClosed(error)) return texts.forbidden
  return error.status === 404 ? texts.notThere : texts.failed
}
