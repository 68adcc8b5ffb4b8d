/* For how long what is kept, and how much there is. */
import { useQuery } from '@tanstack/react-query'
import { getRetentionPolicies } from '../api/generated/sdk.gen.ts'
import type { RetentionPolicy } from '../api/generated/types.gen.ts'
import { formatBytes, formatCount, formatDuration } from '../kit/figures.ts'
import { Page } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import classes from './retention-page.module.css'
import { texts } from './texts.ts'

export function RetentionPage() {
  const query = useQuery({
    queryKey: ['organisation', 'retention'],
    queryFn: async ({ signal }) =>
      (await getRetentionPolicies({ signal, throwOnError: true })).data,
  })
  return (
    <Page
      title={texts.retention}
      lead={texts.retentionLead}
      above={[{ label: texts.title, to: '/settings' }]}
    >
      <Loaded query={query} height={320}>
        {({ data: policies }) => (
          <div className={classes.policies}>
            {policies.map((policy) => (
              <Policy key={policy.name} policy={policy} />
            ))}
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function Policy({ policy }: { readonly policy: RetentionPolicy }) {
  return (
    <article className={classes.policy}>
      <div>
        <h2 className={classes.name}>{policy.name}</h2>
        <p className={classes.description}>{policy.description}</p>
        {policy.setting === null ? null : <code>{policy.setting}</code>}
      </div>
      <dl className={classes.figures}>
        <div>
          <dt>{texts.keptFor}</dt>
          <dd>
            {policy.keeps_seconds === null ? texts.forEver : formatDuration(policy.keeps_seconds)}
          </dd>
        </div>
        <div>
          <dt>{texts.figures}</dt>
          <dd>{texts.rowsOf(formatCount(policy.rows), formatBytes(policy.bytes))}</dd>
        </div>
        <div>
          <dt>{texts.oldest}</dt>
          <dd>
            <Time at={policy.oldest_at} absent="–" />
          </dd>
        </div>
      </dl>
      {policy.last_error === null ? null : (
        <p role="alert" className={classes.fault}>
          {policy.last_error}
        </p>
      )}
    </article>
  )
}
