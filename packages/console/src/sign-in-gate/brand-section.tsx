/* How the pages look that people meet while they sign in, with a preview. */
import { Button, FileButton, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useState } from 'react'
import { Section } from '../kit/page.tsx'
import { findFault } from './form-lines.ts'
import classes from './policy.module.css'
import type { Logo, PolicyValues } from './policy-values.ts'
import { texts } from './texts.ts'

const { policy: words } = texts
const COLOUR = /^#[0-9a-f]{6}$/i
const DEFAULT_COLOUR = '#0b5f8e'
/** Of a file, in bytes; the API takes it as base64. */
const LOGO_BYTES_MAX = 49_000

interface BrandSectionProps {
  readonly form: UseFormReturnType<PolicyValues>
  readonly faults: Readonly<Record<string, string>> | null
  readonly isDisabled: boolean
}

export function BrandSection({ form, faults, isDisabled }: BrandSectionProps) {
  const { logo } = form.getValues()
  const [fault, setFault] = useState<string>()
  const take = async (file: File | null) => {
    if (file === null) return
    const isFit = file.size <= LOGO_BYTES_MAX && isLogoType(file.type)
    setFault(isFit ? undefined : words.logoFault)
    if (isFit) form.setFieldValue('logo', await readLogo(file))
  }
  const told = fault ?? findFault(faults, 'brand_logo')
  return (
    <Section title={words.brand} lead={words.brandLead}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
        <Stack>
          <TextInput
            label={words.brandName}
            description={words.brandNameHelp}
            disabled={isDisabled}
            {...form.getInputProps('brandName')}
            error={faults?.['brand_name']}
          />
          <TextInput
            label={words.brandColour}
            description={words.brandColourHelp}
            placeholder={DEFAULT_COLOUR}
            disabled={isDisabled}
            spellCheck={false}
            {...form.getInputProps('brandColour')}
            error={faults?.['brand_colour']}
          />
          <div>
            <Text size="sm" fw={500}>
              {words.logo}
            </Text>
            <Text size="xs" c="dimmed" mb={6}>
              {words.logoHelp}
            </Text>
            <Group gap="xs">
              <FileButton accept="image/png,image/svg+xml" onChange={(file) => void take(file)}>
                {(props) => (
                  <Button {...props} variant="default" size="compact-sm" disabled={isDisabled}>
                    {words.chooseLogo}
                  </Button>
                )}
              </FileButton>
              {logo === null ? null : (
                <Button
                  variant="default"
                  size="compact-sm"
                  disabled={isDisabled}
                  onClick={() => form.setFieldValue('logo', null)}
                >
                  {words.removeLogo}
                </Button>
              )}
            </Group>
            {told === undefined ? null : (
              <Text size="xs" c="var(--helio-bad)" mt={6} role="alert">
                {told}
              </Text>
            )}
          </div>
        </Stack>
        <Preview values={form.getValues()} />
      </SimpleGrid>
    </Section>
  )
}

function Preview({ values: { brandName, brandColour, logo } }: { readonly values: PolicyValues }) {
  const colour = COLOUR.test(brandColour.trim()) ? brandColour.trim() : DEFAULT_COLOUR
  const name = brandName.trim() || words.previewName
  return (
    <figure style={{ margin: 0 }}>
      <Text component="figcaption" size="xs" c="dimmed" mb={6}>
        {words.preview}
      </Text>
      <div className={classes.preview} style={{ borderTop: `4px solid ${colour}` }}>
        {logo === null ? (
          <span className={classes.brand}>{name}</span>
        ) : (
          <img className={classes.logo} alt={name} src={`data:${logo.type};base64,${logo.data}`} />
        )}
        <span className={classes.sentence}>{words.previewSentence}</span>
        <span
          className={classes.button}
          style={{ background: colour, color: isLight(colour) ? '#17212b' : '#ffffff' }}
        >
          {words.previewButton}
        </span>
      </div>
    </figure>
  )
}

function isLogoType(type: string): type is Logo['type'] {
  return type === 'image/png' || type === 'image/svg+xml'
}

async function readLogo(file: File): Promise<Logo> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return { type: file.type === 'image/png' ? 'image/png' : 'image/svg+xml', data: btoa(text) }
}

const RED_WEIGHT = 0.2126
const GREEN_WEIGHT = 0.7152
const BLUE_WEIGHT = 0.0722
/** Above it dark letters are read better (WCAG 2.2, relative luminance). */
const LIGHT_FROM = 0.179

function isLight(colour: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return RED_WEIGHT * red + GREEN_WEIGHT * green + BLUE_WEIGHT * blue > LIGHT_FROM
}
