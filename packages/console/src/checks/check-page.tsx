/* One check: what it checks, on which devices, and what the owner of a device that fails reads. */
import { Skeleton } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { Suspense } from 'react'
import type { Check } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { lazyPart } from '../kit/lazy-part.tsx'
import { Facts, Section } from '../kit/page.tsx'
import { CheckFrame } from './check-frame.tsx'
import { PassingBar } from './checks-page.tsx'
import { StrategyBadge } from './strategy-badge.tsx'
import { texts } from './texts.ts'

/** Brings the reader of templates along. */
const OwnerTexts = lazyPart(() => import('./owner-texts-view.tsx'), 'OwnerTextsView')

export function CheckPage() {
  const { id } = useParams({ from: '/frame/checks/$id' })
  return (
    <CheckFrame id={id} tab="about">
      {(check) => (
        <>
          <Section title={texts.facts}>
            <Facts facts={factsOf(check)} />
          </Section>
          {check.osquery_sql_template === undefined ? null : (
            <Section title={texts.sql}>
              <CodeBlock name={texts.sql} value={check.osquery_sql_template} />
            </Section>
          )}
          <Suspense fallback={<Skeleton height={320} />}>
            <OwnerTexts check={check} />
          </Suspense>
        </>
      )}
    </CheckFrame>
  )
}

function factsOf(check: Check) {
  const { targeted_groups: targeted, excluded_groups: excluded } = check.targeting_configuration
  const { blocking_enabled: blocks, grace_period_days: days } = check.blocks_auth_configuration
  const targets = targeted.length === 0 ? texts.everyDevice : targeted.join(', ')
  return [
    [texts.passing, <PassingBar key="passing" share={check.percent_passing} />],
    [texts.strategy, <StrategyBadge key="strategy" strategy={check.remediation_strategy} />],
    ...(blocks ? [[texts.grace, texts.graceDays(days)] as const] : []),
    [
      texts.platforms,
      check.compatible_platforms.map((platform) => texts.platformNames[platform]).join(', '),
    ],
    [texts.targets, targets + (excluded.length === 0 ? '' : texts.except(excluded.join(', ')))],
    [texts.tags, check.check_tags.map(({ name }) => name).join(', ') || '–'],
    [texts.kind, texts.kinds[check.type]],
    [texts.slug, <Copyable key="slug" value={check.slug} />],
  ] as const
}
