/* How the devices of a stream are now, named as its events name them. */
import { Button, Group, Skeleton, Table, Text } from '@mantine/core'
import { DeviceDesktopIcon } from '@primer/octicons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getSsfStreamsByIdState } from '../api/generated/sdk.gen.ts'
import { describeSubject } from '../deliveries/subject.ts'
import { Section } from '../kit/page.tsx'
import { EmptyState, ErrorState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { tabTexts } from './tab-texts.ts'

const { stateTab: words } = tabTexts

export function StateTab({ id }: { readonly id: string }) {
  const state = useInfiniteQuery({
    queryKey: ['ssf_streams', id, 'state'],
    initialPageParam: '',
    queryFn: async ({ pageParam, signal }) =>
      (
        await getSsfStreamsByIdState({
          path: { id },
          query: pageParam === '' ? {} : { cursor: pageParam },
          signal,
          throwOnError: true,
        })
      ).data,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })
  const { data, error, refetch } = state
  if (error !== null && data === undefined) {
    return <ErrorState error={error} onRetry={() => void refetch()} />
  }
  const first = data?.pages[0]
  if (data === undefined || first === undefined) return <Skeleton height={260} />
  const subjects = data.pages.flatMap((page) => page.subjects)
  return (
    <Section title={words.title} lead={`${words.lead} ${words.asOf(first.as_of_sequence)}`} isFlush>
      {subjects.length === 0 ? (
        <EmptyState icon={DeviceDesktopIcon} title={words.none}>
          {words.noneHelp}
        </EmptyState>
      ) : (
        <Table verticalSpacing={8} horizontalSpacing="md" fz={13} miw={480}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.subject}</Table.Th>
              <Table.Th>{words.status}</Table.Th>
              <Table.Th>{words.since}</Table.Th>
              <Table.Th>{words.sequence}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {subjects.map((subject, index) => (
              <Table.Tr key={index}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  {describeSubject((subject as { readonly sub_id?: unknown }).sub_id)}
                </Table.Td>
                <Table.Td>
                  <StateBadge tone={subject.status === 'compliant' ? 'good' : 'bad'} isPlain>
                    {words.statuses[subject.status]}
                  </StateBadge>
                </Table.Td>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>
                  <Time at={new Date(subject.event_timestamp * 1000).toISOString()} />
                </Table.Td>
                <Table.Td>{subject.sequence ?? '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {state.hasNextPage ? (
        <Group p="sm" justify="center">
          <Button
            variant="default"
            loading={state.isFetchingNextPage}
            onClick={() => void state.fetchNextPage()}
          >
            {words.more}
          </Button>
        </Group>
      ) : null}
      {error === null ? null : <Text p="sm">{error.message}</Text>}
    </Section>
  )
}
