/* What a stream can be told beyond the interface: what its events contain, and when they are sent. */
import {
  Checkbox,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core'
import { Section } from '../kit/page.tsx'
import type { FormPartProps } from './stream-form.tsx'
import { texts } from './texts.ts'

const { form: words } = texts

const toChoices = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }))

export function MoreChoices({ form, faults, isNew }: FormPartProps & { readonly isNew: boolean }) {
  return (
    <Section title={words.more}>
      <Stack>
        <TextInput
          label={words.description}
          {...form.getInputProps('description')}
          error={faults.description}
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Select
            label={words.profile}
            description={words.profileHelp}
            placeholder={isNew ? words.profiles.interface : words.credentials.keep}
            data={toChoices(words.profiles)}
            value={form.values.profile === '' ? null : form.values.profile}
            onChange={(value) =>
              form.setFieldValue('profile', (value ?? '') as typeof form.values.profile)
            }
            clearable
          />
          <Select
            label={words.subjectForm}
            description={' '}
            data={toChoices(words.subjectForms)}
            allowDeselect={false}
            {...form.getInputProps('subjectForm')}
            error={faults.subjectForm}
          />
          <NumberInput
            label={words.damping}
            description={words.dampingHelp}
            min={0}
            {...form.getInputProps('damping')}
            error={faults.damping}
          />
          <NumberInput
            label={words.heartbeat}
            description={words.heartbeatHelp}
            min={1}
            {...form.getInputProps('heartbeat')}
            error={faults.heartbeat}
          />
        </SimpleGrid>
        <Checkbox.Group
          label={words.reasons}
          value={form.values.reasonFields}
          onChange={(chosen) => form.setFieldValue('reasonFields', chosen)}
          error={faults.reasonFields}
        >
          <Group mt={6}>
            {toChoices(words.reasonFields).map(({ value, label }) => (
              <Checkbox key={value} value={value} label={label} />
            ))}
          </Group>
        </Checkbox.Group>
        <Switch label={words.sequence} {...form.getInputProps('sequence', { type: 'checkbox' })} />
        <Switch label={words.pairwise} {...form.getInputProps('pairwise', { type: 'checkbox' })} />
        {form.values.deliveryType === 'push' ? (
          <Switch
            label={words.fallback}
            {...form.getInputProps('fallback', { type: 'checkbox' })}
          />
        ) : null}
      </Stack>
    </Section>
  )
}
