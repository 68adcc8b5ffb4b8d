/* The sections of the policy that are made of choices; each choice says what it means. */
import { NumberInput, Radio, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { getPersonGroups } from '../api/generated/sdk.gen.ts'
import { Section } from '../kit/page.tsx'
import { RecordPicker } from '../kit/record-picker.tsx'
import { quoteText } from '../kit/search-text.ts'
import { findFault } from './form-lines.ts'
import type { PolicyValues } from './policy-values.ts'
import { texts } from './texts.ts'

const { policy: words } = texts
const FOUND_MAX = 20

interface SectionProps {
  readonly form: UseFormReturnType<PolicyValues>
  readonly faults: Readonly<Record<string, string>> | null
  readonly isDisabled: boolean
}

type Choices = Readonly<Record<string, readonly [label: string, meaning: string]>>

interface ChoiceProps extends Pick<SectionProps, 'form' | 'isDisabled'> {
  readonly name: 'first' | 'further' | 'unreachable' | 'outage'
  readonly label: string
  readonly choices: Choices
}

function Choice({ name, label, choices, form, isDisabled }: ChoiceProps) {
  return (
    <Radio.Group label={label} {...form.getInputProps(name)}>
      <Stack gap={8} mt={6}>
        {Object.entries(choices).map(([value, [text, meaning]]) => (
          <Radio
            key={value}
            value={value}
            label={text}
            description={meaning}
            disabled={isDisabled}
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}

export function RegistrationSection({ form, isDisabled }: SectionProps) {
  return (
    <Section title={words.registration} lead={words.registrationLead}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
        <Choice {...{ form, isDisabled }} name="first" label={words.first} choices={words.firsts} />
        <Choice
          {...{ form, isDisabled }}
          name="further"
          label={words.further}
          choices={words.furthers}
        />
      </SimpleGrid>
    </Section>
  )
}

export function OutageSection({ form, faults, isDisabled }: SectionProps) {
  return (
    <Section title={words.outages} lead={words.outagesLead}>
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
          <Choice
            {...{ form, isDisabled }}
            name="unreachable"
            label={words.unreachable}
            choices={words.unreachables}
          />
          <Choice
            {...{ form, isDisabled }}
            name="outage"
            label={words.outage}
            choices={words.outageChoices}
          />
        </SimpleGrid>
        {form.getValues().unreachable === 'last_known' ? (
          <NumberInput
            label={words.lastKnown}
            min={1}
            allowDecimal={false}
            maw={280}
            disabled={isDisabled}
            {...form.getInputProps('lastKnownMinutes')}
            error={faults?.['last_known_minutes']}
          />
        ) : null}
        <RecordPicker
          label={words.breakGlass}
          description={words.breakGlassHelp}
          placeholder={words.noGroup}
          nothingFound={words.noGroupFound}
          value={form.getValues().breakGlass}
          onChange={(choice) => form.setFieldValue('breakGlass', choice)}
          error={faults?.['break_glass_group_id']}
          isDisabled={isDisabled}
          isWide
          queryKey={['person_groups', 'list', 'picker']}
          find={async (text, signal) => {
            const search = text === '' ? {} : { query: `name~${quoteText(text)}` }
            const query = { per_page: FOUND_MAX, ...search }
            const { data } = await getPersonGroups({ query, signal, throwOnError: true })
            return data.data.map(({ id, name }) => ({ value: id, label: name }))
          }}
        />
      </Stack>
    </Section>
  )
}

export function KnowledgeSection({ form, faults, isDisabled }: SectionProps) {
  return (
    <Section title={words.knowledge} lead={words.knowledgeLead}>
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <NumberInput
            label={words.recheck}
            description={words.recheckHelp}
            min={1}
            allowDecimal={false}
            disabled={isDisabled}
            {...form.getInputProps('recheckMinutes')}
            error={faults?.['recheck_age_minutes']}
          />
          <NumberInput
            label={words.keyDays}
            description={words.keyDaysHelp}
            min={1}
            allowDecimal={false}
            disabled={isDisabled}
            {...form.getInputProps('keyDays')}
            error={faults?.['browser_key_days']}
          />
        </SimpleGrid>
        <Textarea
          label={words.proxies}
          description={words.proxiesHelp}
          placeholder={words.proxiesPlaceholder}
          autosize
          minRows={1}
          spellCheck={false}
          disabled={isDisabled}
          {...form.getInputProps('proxies')}
          error={findFault(faults, 'trusted_local_proxies')}
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            label={words.header}
            description={words.headerHelp}
            placeholder={words.headerPlaceholder}
            spellCheck={false}
            disabled={isDisabled}
            {...form.getInputProps('header')}
            error={faults?.['certificate_header.name']}
          />
          <Textarea
            label={words.headerProxies}
            description={words.headerProxiesHelp}
            autosize
            minRows={1}
            spellCheck={false}
            disabled={isDisabled || form.getValues().header.trim() === ''}
            {...form.getInputProps('headerProxies')}
            error={findFault(faults, 'certificate_header.proxies')}
          />
        </SimpleGrid>
      </Stack>
    </Section>
  )
}
