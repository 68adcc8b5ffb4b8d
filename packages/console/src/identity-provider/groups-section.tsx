/* Which groups of the provider open the console, and how far. */
import { Alert, Stack, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { AlertIcon } from '@primer/octicons-react'
import { Section } from '../kit/page.tsx'
import { toInput, type ProviderValues } from './provider-calls.ts'
import { texts } from './texts.ts'

interface GroupsSectionProps {
  readonly form: UseFormReturnType<ProviderValues>
  readonly faults: Readonly<Record<string, string>> | null
}

export function GroupsSection({ form, faults }: GroupsSectionProps) {
  const input = toInput(form.values)
  const hasClaim = input.group_claim !== null
  const isNobody =
    hasClaim && input.full_access_groups?.length === 0 && input.limited_access_groups?.length === 0
  return (
    <Section title={texts.groups} lead={texts.groupsLead}>
      <Stack>
        <TextInput
          label={texts.claim}
          description={texts.claimHelp}
          spellCheck={false}
          {...form.getInputProps('group_claim')}
          error={faults?.['group_claim']}
        />
        {hasClaim ? (
          <>
            <Textarea
              label={texts.fullGroups}
              description={texts.oneALine}
              autosize
              minRows={2}
              maxRows={10}
              spellCheck={false}
              {...form.getInputProps('full_access_groups')}
              error={findFault(faults, 'full_access_groups')}
            />
            <Textarea
              label={texts.limitedGroups}
              description={texts.oneALine}
              autosize
              minRows={2}
              maxRows={10}
              spellCheck={false}
              {...form.getInputProps('limited_access_groups')}
              error={findFault(faults, 'limited_access_groups')}
            />
          </>
        ) : null}
        {isNobody ? (
          <Alert color="yellow" icon={<AlertIcon />} role="status" p="xs">
            {texts.noGroups}
          </Alert>
        ) : null}
      </Stack>
    </Section>
  )
}

/** Of the list, or of one of its members. */
function findFault(faults: GroupsSectionProps['faults'], name: string): string | undefined {
  return Object.entries(faults ?? {}).find(([path]) => path.startsWith(name))?.[1]
}
