import { Skeleton } from '@mantine/core'
import { VerifiedIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../api/client.ts'
import { getAuditLogsByIdInclusionProof } from '../api/generated/sdk.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { formatCount } from '../kit/figures.ts'
import { Facts, Section } from '../kit/page.tsx'
import { ErrorState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import classes from './audit-log.module.css'
import { checkpointQuery } from './checkpoint-query.ts'
import { texts } from './texts.ts'
import { canVerify, leadsToRoot } from './verify-inclusion.ts'

/** Whether a signed checkpoint covers the entry, computed here from the proof of the service. */
export function EntryProof({ id }: { readonly id: string }) {
  const { data: checkpoint } = useQuery(checkpointQuery)
  const size = checkpoint?.size
  const proof = useQuery({
    queryKey: ['audit_checkpoints', 'proof', id, size],
    queryFn: async ({ signal }) => {
      if (checkpoint === undefined || checkpoint === null) return null
      const read = await readProof(id, checkpoint.size, signal)
      if (read === null) return null
      const isProven = canVerify() ? await leadsToRoot(read, checkpoint.root_hash) : undefined
      return { ...read, isProven }
    },
    enabled: checkpoint !== undefined,
  })
  if (proof.data === undefined && proof.error !== null) {
    return <ErrorState error={proof.error} onRetry={() => void proof.refetch()} />
  }
  if (proof.data === undefined) return <Skeleton height={160} aria-label={texts.proving} />
  if (proof.data === null || checkpoint === undefined || checkpoint === null) {
    return (
      <Section title={texts.proof} lead={texts.notYetLead}>
        <StateBadge tone="unknown">{texts.notYet}</StateBadge>
      </Section>
    )
  }
  const { isProven, position, hash, previous_hash: previous } = proof.data
  return (
    <Section title={texts.proof} lead={leadOf(isProven, checkpoint.size)}>
      <div className={classes.proof}>
        <Verdict isProven={isProven} />
        <Facts
          facts={[
            [texts.position, formatCount(position)],
            [texts.signedAt, <Time key="signed" at={checkpoint.signed_at} />],
            [texts.hash, <Copyable key="hash" value={hash} />],
            [texts.previous, <Copyable key="previous" value={previous} />],
            [texts.root, <Copyable key="root" value={checkpoint.root_hash} />],
          ]}
        />
        <CodeBlock name={texts.checkpointNote} value={checkpoint.checkpoint} />
      </div>
    </Section>
  )
}

/** Null while no checkpoint covers the entry. */
async function readProof(id: string, size: number, signal: AbortSignal) {
  try {
    const { data } = await getAuditLogsByIdInclusionProof({
      path: { id },
      query: { size },
      signal,
      throwOnError: true,
    })
    return data
  } catch (error) {
    if (error instanceof ApiError && error.status < 500 && error.status >= 400) return null
    throw error
  }
}

function Verdict({ isProven }: { readonly isProven: boolean | undefined }) {
  if (isProven === undefined) return <StateBadge tone="unknown">{texts.cannot}</StateBadge>
  return isProven ? (
    <StateBadge tone="good" icon={VerifiedIcon}>
      {texts.proven}
    </StateBadge>
  ) : (
    <StateBadge tone="bad">{texts.notProven}</StateBadge>
  )
}

function leadOf(isProven: boolean | undefined, size: number): string {
  if (isProven === undefined) return texts.cannotLead
  return isProven ? texts.provenLead(formatCount(size)) : texts.notProvenLead
}
