/* What a query may cost, in sentences. The facts about tables come when they are first needed. */
import { Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { AlertIcon, CheckCircleFillIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import classes from './live-queries.module.css'
import { texts } from './texts.ts'

const PAUSE_MS = 300

export function CostNotes({ sql }: { readonly sql: string }) {
  const [settled] = useDebouncedValue(sql.trim(), PAUSE_MS)
  const { data: costs } = useQuery({
    queryKey: ['computed', 'query_cost', settled],
    queryFn: async () => (await import('./query-cost.ts')).describeCosts(settled),
    staleTime: Infinity,
    enabled: settled !== '',
    placeholderData: (before) => before,
  })
  if (settled === '' || costs === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {texts.costLater}
      </Text>
    )
  }
  return (
    <ul className={classes.costs} aria-live="polite">
      {costs.length === 0 ? (
        <li data-fine>
          <CheckCircleFillIcon size={14} />
          {texts.noCost}
        </li>
      ) : (
        costs.map((cost) => (
          <li key={cost}>
            <AlertIcon size={14} />
            {cost}
          </li>
        ))
      )}
    </ul>
  )
}
