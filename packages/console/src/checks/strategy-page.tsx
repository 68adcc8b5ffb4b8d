/* What a check does to devices that fail it, changed with the impact in sight before anything is saved. */
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { getChecksByIdConfigurations } from '../api/generated/sdk.gen.ts'
import { ErrorState } from '../kit/states.tsx'
import { CheckFrame } from './check-frame.tsx'
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
  const { data, error, refetch } = useQuery({
    queryKey: ['checks', id, 'configuration'],
    queryFn: async ({ signal }) =>
      (await getChecksByIdConfigurations({ path: { id }, signal, throwOnError: true })).data,
  })
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton height={320} />
  return (
    <>
      <StrategyForm key={data.revision} checkId={id} saved={data} />
      <ConfigurationHistory checkId={id} />
    </>
  )
}
