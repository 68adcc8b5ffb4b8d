/* A security event token: what it says beside how it was sent, and its signature checked before the reader. */
import { SimpleGrid, Stack, Text } from '@mantine/core'
import { CheckIcon, DashIcon, XIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { CodeBlock } from '../kit/code-block.tsx'
import { Fault } from '../kit/confirm.tsx'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import classes from './set-view.module.css'
import { texts } from './texts.ts'
import { jwksQuery } from './jwks-query.ts'
import { decodeSet, verifySet, type ExpectedSet, type Step } from './verify-set.ts'

const { set: words } = texts

interface SetViewProps {
  readonly token: string
  readonly expected?: ExpectedSet
}

export function SetView({ token, expected = {} }: SetViewProps) {
  const decoded = decodeSet(token)
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <Stack gap={6} miw={0}>
        <Label>{words.decoded}</Label>
        {decoded === undefined ? (
          <Text size="sm">{words.notDecodable}</Text>
        ) : (
          <CodeBlock name={words.decoded} value={decoded.claims} />
        )}
      </Stack>
      <Stack gap="sm" miw={0}>
        <Verification token={token} expected={expected} />
        <Label>{words.raw}</Label>
        <CodeBlock name={words.raw} value={token} isToken />
        {decoded === undefined ? null : (
          <>
            <Label>{words.header}</Label>
            <CodeBlock name={words.header} value={decoded.header} />
          </>
        )}
      </Stack>
    </SimpleGrid>
  )
}

function Label({ children }: { readonly children: string }) {
  return (
    <Text size="xs" c="dimmed" fw={600}>
      {children}
    </Text>
  )
}

const ICONS = { ok: CheckIcon, wrong: XIcon, undecided: DashIcon } as const

function Verification({ token, expected }: Required<SetViewProps>) {
  const { data: steps, error } = useQuery({
    queryKey: ['computed', 'verification', token, expected],
    queryFn: async ({ client }) => verifySet(token, expected, await client.fetchQuery(jwksQuery)),
  })
  if (error !== null) return <Fault error={error} />
  if (steps === undefined) return <Text size="sm">{words.verifying}</Text>
  const [tone, told] = judge(steps)
  return (
    <section className={classes.verification} aria-label={words.verification}>
      <StateBadge tone={tone}>{told}</StateBadge>
      <ol className={classes.steps}>
        {steps.map(({ id, outcome, note }) => {
          const Icon = ICONS[outcome]
          return (
            <li key={id} data-outcome={outcome}>
              <Icon size={14} />
              <div>
                <div>{words.steps[id]}</div>
                {note === undefined ? null : <div className={classes.note}>{note}</div>}
              </div>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

function judge(steps: readonly Step[]): readonly [Tone, string] {
  if (steps.some(({ outcome }) => outcome === 'wrong')) return ['bad', words.failed]
  if (steps.some(({ outcome }) => outcome === 'undecided')) return ['unknown', words.undecided]
  return ['good', words.verified]
}
