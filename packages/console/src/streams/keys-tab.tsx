/* What the receiver has made of each signing key. */
import { Table, Text } from '@mantine/core'
import { KeyIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import type { StreamHealth } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { Section } from '../kit/page.tsx'
import { EmptyState, Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { healthQuery } from './stream-queries.ts'
import { tabTexts } from './tab-texts.ts'

const { keysTab: words } = tabTexts

export function KeysTab({ id }: { readonly id: string }) {
  const query = useQuery(healthQuery(id))
  return (
    <Loaded query={query} height={220}>
      {(health) => <Keys keys={health.signing_keys} />}
    </Loaded>
  )
}

function Keys({ keys }: { readonly keys: StreamHealth['signing_keys'] }) {
  return (
    <Section title={words.title} lead={words.lead} isFlush>
      {keys.length === 0 ? (
        <EmptyState icon={KeyIcon} title={words.none}>
          {words.noneHelp}
        </EmptyState>
      ) : (
        <Table verticalSpacing={8} horizontalSpacing="md" fz={13} miw={720}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.key}</Table.Th>
              <Table.Th>{words.state}</Table.Th>
              <Table.Th>{words.fetched}</Table.Th>
              <Table.Th>{words.firstAccepted}</Table.Th>
              <Table.Th>{words.lastAccepted}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map((key) => (
              <Table.Tr key={key.kid}>
                <Table.Td>
                  <Copyable value={key.kid} />
                  {key.in_use ? (
                    <div>
                      <StateBadge tone="good" isPlain>
                        {words.inUse}
                      </StateBadge>
                    </div>
                  ) : null}
                </Table.Td>
                <Table.Td>{key.rolled_back ? words.rolledBack : words.states[key.state]}</Table.Td>
                <Table.Td>
                  <Time at={key.jwks_fetched_at} absent={words.never} />
                </Table.Td>
                <Table.Td>
                  <Time at={key.first_accepted_at} absent={words.never} />
                </Table.Td>
                <Table.Td>
                  <Time at={key.last_accepted_at} absent={words.never} />
                  {key.last_refused_at === null ? null : (
                    <Text size="xs" c="var(--helio-bad)">
                      {words.refused} <Time at={key.last_refused_at} /> {key.refusal}
                    </Text>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  )
}
