// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration

extension CommandContext {
  /// The settings that result from options, environment and configuration file.
  ///
  /// - Parameters:
  ///   - path: the configuration file that the options name.
  ///   - overrides: what the options say.
  ///   - tellsMisspelt: whether a variable that looks like a misspelt one is told.
  /// - Returns: the settings.
  /// - Throws: what is wrong, and where.
  func settings(
    file path: String?, _ overrides: SettingsOverrides, tellsMisspelt: Bool = true
  ) throws(CommandError) -> DirectSettings {
    if tellsMisspelt {
      for finding in Finding.variables(environment.keys) { reportError("\(finding.detail). \(finding.advice ?? "")") }
    }
    if let path { try InputFile.check(path, of: "--config") }
    do throws(ConfigurationFault) {
      let variables = try EnvironmentSettings(environment)
      return try DirectSettings(configurationFile(path, variables), environment: variables, overrides: overrides)
    } catch {
      throw CommandError(error)
    }
  }

  /// Follows the file that was asked for, or the default one if it exists, for as long as the command runs.
  ///
  /// - Parameters:
  ///   - path: the configuration file that the options name.
  ///   - overrides: what the options say.
  ///   - check: checks further settings before anything is changed.
  ///   - observer: called after each further reading.
  /// - Returns: the file, which is followed when it is run; nil if there is none.
  /// - Throws: what is wrong, and where.
  func liveConfiguration(
    file path: String?, _ overrides: SettingsOverrides, check: @escaping LiveConfiguration.Check,
    observer: @escaping LiveConfiguration.Observer
  ) throws(CommandError) -> LiveConfiguration? {
    do throws(ConfigurationFault) {
      let variables = try EnvironmentSettings(environment)
      guard let (path, _) = try configurationBytes(path, variables) else { return nil }
      return try LiveConfiguration(
        path: path, environment: variables, overrides: overrides, clock: clock, check: check, observer: observer)
    } catch {
      throw CommandError(error)
    }
  }

  private func configurationFile(
    _ option: String?, _ variables: EnvironmentSettings
  ) throws(ConfigurationFault) -> ConfigurationFile {
    guard let (path, bytes) = try configurationBytes(option, variables) else { return ConfigurationFile() }
    if let warning = try ConfigurationFile.warning(of: path) { reportError(warning) }
    return try ConfigurationFile(checking: bytes, name: path)
  }

  /// The file that was asked for, or the default one if it exists.
  private func configurationBytes(
    _ option: String?, _ variables: EnvironmentSettings
  ) throws(ConfigurationFault) -> (path: String, bytes: [UInt8])? {
    let asked = option ?? variables.configurationPath
    if asked == nil { try EnvironmentSettings.check(folderVariable, in: environment) }
    guard let path = asked ?? defaultConfigurationPath else { return nil }
    let bytes: [UInt8]?
    do throws(StreamError) { bytes = try readFile(path) } catch {
      let remedy = asked == nil ? " \(folderVariable) leads there: --config names another file." : ""
      throw ConfigurationFault("\(path): the configuration file cannot be read: \(error.reason).\(remedy)")
    }
    guard let bytes else {
      guard asked != nil else { return nil }
      let source = option == nil ? "\(EnvironmentSettings.prefix)CONFIG" : "--config"
      throw ConfigurationFault("\(path): there is no such configuration file. Check \(source).")
    }
    return (path, bytes)
  }

  /// The configuration file that an option or the environment names; nil if none does.
  func askedConfiguration(_ option: String?) -> String? {
    option ?? (try? EnvironmentSettings(environment))?.configurationPath
  }

  /// The configuration file that is used; nil if there is none.
  func configurationPath(_ option: String?) -> String? {
    if let asked = askedConfiguration(option) { return asked }
    guard let path = defaultConfigurationPath, (try? readFile(path)) != nil else { return nil }
    return path
  }

  /// The variable that names the default file's folder.
  private var folderVariable: String {
    // The XDG Base Directory Specification ignores paths that are not absolute.
    environment["XDG_CONFIG_HOME"]?.hasPrefix("/") == true ? "XDG_CONFIG_HOME" : "HOME"
  }

  private var defaultConfigurationPath: String? {
    let name = folderVariable
    guard let folder = environment[name], folder.hasPrefix("/") else { return nil }
    return folder + (name == "HOME" ? "/.config" : "") + "/directdns/config.json5"
  }
}
