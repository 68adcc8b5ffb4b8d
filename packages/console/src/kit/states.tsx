/* What stands where there is nothing to show: nothing yet, nothing at all, or a failure. */
import { Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core'
import { AlertIcon, type Icon } from '@primer/octicons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import classes from './states.module.css'
import { texts } from './texts.ts'

interface EmptyStateProps {
  readonly icon: Icon
  /** What is not there, as a short sentence. */
  readonly title: string
  /** Why, and what makes it appear. */
  readonly children: ReactNode
  readonly action?: ReactNode
}

/** Says that there is nothing, why, and what to do about it. */
export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <Stack align="center" gap="xs" className={classes.state}>
      <span className={classes.mark}>
        <Icon size={20} />
      </span>
      <Text fw={650}>{title}</Text>
      <Text c="dimmed" size="sm" ta="center" maw={460}>
        {children}
      </Text>
      {action}
    </Stack>
  )
}

export interface LoadedProps<Data> {
  readonly query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>
  /** Of what stands there meanwhile, in px; a whole page when left out. */
  readonly height?: number
  readonly children: (data: Data) => ReactNode
}

/** Shows what was read. What has been read once stays, also when reading it again fails. */
export function Loaded<Data>({ query, height, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return height === undefined ? <Skeleton m={28} height={320} /> : <Skeleton height={height} />
}

interface ErrorStateProps {
  readonly error: unknown
  readonly onRetry?: () => void
}

/** Says what failed in the words of the service, and what to quote when asking for help. */
export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <Stack align="center" gap="xs" className={classes.state} role="alert">
      <span className={classes.mark} data-bad>
        <AlertIcon size={20} />
      </span>
      <Text fw={650}>{texts.failed}</Text>
      <Text c="dimmed" size="sm" ta="center" maw={520}>
        {error instanceof Error ? error.message : texts.failed}
      </Text>
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
    </Stack>
  )
}
