/* What a check does to devices that fail it, changed with the impact in sight before anything is saved. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Loaded } from '../kit/states.tsx'
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
  const query = useQuery(configurationQuery(id))
  return (
    <Loaded query={query} height={320}>
      {(saved) => (
        <>
          <StrategyForm key={id} checkId={id} saved={saved} />
          <ConfigurationHistory checkId={id} />
        </>
      )}
    </Loaded>
  )
}
