import type { TableSources } from './table-definition.ts'

/** Tables and columns that only Windows has (osquery 5.20). */
export const WINDOWS_TABLES: TableSources = {
  os_version: `install_date:bigint revision:integer`,
  time: `win_timestamp:bigint`,
  users: `type`,
  groups: `group_sid! comment`,
  logged_in_users: `sid registry_hive`,
  processes: `elevated_token:integer secure_process:integer protection_type
    virtual_process:integer elapsed_time:bigint handle_count:bigint percent_processor_time:bigint`,
  authenticode: `path original_program_name serial_number issuer_name subject_name result`,
  interface_addresses: `friendly_name`,
  interface_details: `friendly_name description manufacturer connection_id connection_status
    enabled:integer physical_adapter:integer speed:integer service dhcp_enabled:integer
    dhcp_lease_expires dhcp_lease_obtained dhcp_server dns_domain dns_domain_suffix_search_order
    dns_host_name dns_server_search_order`,
  certificates: `sid store_location store username store_id`,
  file: `attributes volume_serial file_id file_version product_version original_filename
    shortcut_target_path shortcut_target_type shortcut_target_location shortcut_start_in
    shortcut_run shortcut_comment`,
  cpu_info: `availability`,
  secureboot: `setup_mode:integer`,
  bitlocker_info: `device_id drive_letter persistent_volume_id conversion_status:integer
    protection_status:integer encryption_method version:integer percentage_encrypted:integer
    lock_status:integer`,
  windows_security_products: `type name state state_timestamp remediation_path
    signatures_up_to_date:integer`,
  windows_security_center: `firewall autoupdate antivirus antispyware internet_settings
    windows_security_center_service user_account_control`,
  registry: `key! path! name! type data mtime:bigint`,
  services: `name service_type display_name status pid:integer start_type win32_exit_code:integer
    service_exit_code:integer path module_path description user_account`,
  windows_firewall_rules: `name app_name action enabled:integer grouping direction protocol
    local_addresses remote_addresses local_ports remote_ports icmp_types_codes
    profile_domain:integer profile_private:integer profile_public:integer service_name`,
  security_profile_info: `minimum_password_age:integer maximum_password_age:integer
    minimum_password_length:integer password_complexity:integer password_history_size:integer
    lockout_bad_count:integer logon_to_change_password:integer force_logoff_when_expire:integer
    new_administrator_name new_guest_name clear_text_password:integer
    lsa_anonymous_name_lookup:integer enable_admin_account:integer enable_guest_account:integer
    audit_system_events:integer audit_logon_events:integer audit_object_access:integer
    audit_privilege_use:integer audit_policy_change:integer audit_account_manage:integer
    audit_process_tracking:integer audit_ds_access:integer audit_account_logon:integer`,
  programs: `name version install_location install_source language publisher uninstall_string
    install_date identifying_number package_family_name upgrade_code`,
  patches: `csname hotfix_id caption description fix_comments installed_by install_date
    installed_on`,
  windows_update_history: `client_app_id date:bigint description hresult:bigint operation
    result_code server_selection service_id support_url title update_id update_revision:bigint`,
  windows_optional_features: `name caption state:integer statename`,
  shared_resources: `description install_date status allow_maximum:integer maximum_allowed:bigint
    name path type:bigint type_name`,
  scheduled_tasks: `name action path enabled:integer state hidden:integer last_run_time:bigint
    next_run_time:bigint last_run_message last_run_code`,
  logical_drives: `device_id type description free_space:bigint size:bigint file_system
    boot_partition:integer`,
  tpm_info: `activated:integer enabled:integer owned:integer manufacturer_version
    manufacturer_id:integer manufacturer_name product_name physical_presence_version spec_version`,
}
