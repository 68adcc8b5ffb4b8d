/* Leads to the identity provider of the organisation, where one is set up. */
import { Button } from '@mantine/core'
import { OrganizationIcon } from '@primer/octicons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Fault } from '../kit/confirm.tsx'
import { goToProvider, providerQuery, type ProviderPurpose } from './provider-calls.ts'
import { texts } from './texts.ts'

interface ProviderButtonProps {
  readonly purpose: ProviderPurpose
  readonly next: string | undefined
}

export function ProviderButton({ purpose, next }: ProviderButtonProps) {
  const { data: name } = useQuery(providerQuery)
  const leave = useMutation({ mutationFn: () => goToProvider(purpose, next) })
  if (name === undefined || name === null) return null
  return (
    <>
      <Button
        variant="default"
        leftSection={<OrganizationIcon />}
        loading={leave.isPending}
        onClick={() => leave.mutate()}
      >
        {texts.atProvider[purpose].go(name)}
      </Button>
      <Fault error={leave.error} />
    </>
  )
}
