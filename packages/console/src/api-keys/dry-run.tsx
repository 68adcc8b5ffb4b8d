/* What other permissions would refuse of what a key asked for: told while they are chosen, before they are saved. */
import { Alert } from '@mantine/core'
import { AlertIcon, CheckCircleIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { postApiKeysByIdTryPermissions } from '../api/generated/sdk.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { Time } from '../kit/time.tsx'
import { texts } from './texts.ts'

interface DryRunProps {
  readonly apiKeyId: string
  /** All that the key would hold. */
  readonly permissions: readonly string[]
}

export function DryRun({ apiKeyId, permissions }: DryRunProps) {
  const proposed = [...permissions].sort()
  const { data, error } = useQuery({
    queryKey: ['api_keys', apiKeyId, 'tried', proposed],
    queryFn: async ({ signal }) => {
      const body = { permissions: proposed }
      const path = { id: apiKeyId }
      return (await postApiKeysByIdTryPermissions({ path, body, signal, throwOnError: true })).data
    },
    placeholderData: keepPreviousData,
  })
  if (data === undefined) return <Fault error={error} />
  const refused = data.data.filter(({ would_be_refused_count: count }) => count > 0)
  if (refused.length === 0) {
    return (
      <Alert icon={<CheckCircleIcon />} role="status" p="xs">
        {texts.triedNone}
      </Alert>
    )
  }
  return (
    <Alert
      color="yellow"
      icon={<AlertIcon />}
      role="status"
      title={texts.tried(data.would_be_refused_count)}
    >
      <ul>
        {refused.map(({ permission, would_be_refused_count: count, last_at: at }) => (
          <li key={permission}>
            {texts.triedPermission(permission, count)} <Time at={at} />
          </li>
        ))}
      </ul>
    </Alert>
  )
}
