/* What a check does to devices that fail it, changed with the impact in sight before anything is saved. */
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ErrorState } from '../kit/states.tsx'
import { CheckFrame } from './check-frame.tsx'
import { configurationQuery } from './configuration-query.ts'
import { ConfigurationHistory } from './configuration-history.tsx'
import { StrategyForm } from './strategy-form.tsx'

export function StrategyPage() {
  const { id } = useParams({ from: '/frame/checks/$id/strategy' })
  return (
    <CheckFrame id={id} tab="strategy">
      {() => <Strategy id={id} />}
    </CheckFrame>
  )
}

function Strategy({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(configurationQuery(id))
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton height={320} />
  return (
    <>
      <StrategyForm key={data.revision} checkId={id} saved={data} />
      <ConfigurationHistory checkId={id} />
    </>
  )
}
