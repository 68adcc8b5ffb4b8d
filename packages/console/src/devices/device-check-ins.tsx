/* When a device was last heard of, by what it did. */
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Section } from '../kit/page.tsx'
import { ErrorState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { checkInsQuery } from './device-queries.ts'
import { texts } from './texts.ts'

export function DeviceCheckIns({ deviceId }: { readonly deviceId: string }) {
  const { data, error, refetch } = useQuery(checkInsQuery(deviceId))
  const { checkInsOf } = texts
  return (
    <Section title={texts.checkIns}>
      {data === undefined ? (
        error === null ? (
          <Skeleton height={90} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <Facts
          isNarrow
          facts={[
            [checkInsOf.contact, <Time at={data.last_contact_at} />],
            [checkInsOf.round, <Time at={data.last_round_at} />],
            [checkInsOf.result, <Time at={data.last_result_at} />],
            [checkInsOf.report, <Time at={data.last_report_at} />],
            [checkInsOf.signIn, <Time at={data.last_sign_in_at} />],
            [checkInsOf.authenticated, <Time at={data.last_authenticated_at} />],
            [checkInsOf.enrolled, <Time at={data.enrolled_at} />],
            [
              checkInsOf.address,
              data.ip_address === null ? '–' : <Copyable value={data.ip_address} />,
            ],
          ]}
        />
      )}
    </Section>
  )
}
