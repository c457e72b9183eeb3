// SPDX-License-Identifier: Apache-2.0
#if ConfigReader || Everything
  public import Configuration
  public import DirectDNS
  public import DirectDNSConfiguration

  extension ConfigurationFile {
    /// Reads what the configuration file would say out of swift-configuration: the keys are the file's.
    ///
    /// ```swift
    /// let config = ConfigReader(providers: [EnvironmentVariablesProvider(), …])
    /// let settings = try DirectSettings(ConfigurationFile(config.scoped(to: "dns")))
    /// let resolver = try DirectResolver(settings.resolver)
    /// ```
    ///
    /// A reader holds plain values and lists of them, so three keys have another form:
    ///
    /// - `providers` is a list of names and URLs. What the file says of a provider in an object stands below
    ///   `provider.NAME`, where `NAME` is one of the list: `provider.corp.provider` (its preset or URL, without which
    ///   `NAME` is that), `provider.corp.bootstrap`, `provider.corp.credentials.token` and so on.
    /// - `pins` is a list of `NAME=ADDRESS`; a name with several addresses stands there several times.
    /// - `proxy.routes` is a list of `NAME=ROUTE`.
    ///
    /// `system`, `addressPolicy` and `direct` have one value, or keys below them: both at once is an error.
    ///
    /// Relative paths go from the process's folder. A value of another type than the key's is an error where the reader
    /// cannot make one of the other; a key that nobody knows is not noticed, since a reader does not tell its keys.
    /// Credentials, and the store's URL, are asked for as secrets.
    ///
    /// - Parameters:
    ///   - reader: has the keys, without a prefix: scope it to where they stand.
    ///   - name: what the configuration is called in errors.
    /// - Throws: `invalidConfiguration` with the key, the value and what should stand there; no secret.
    public init(_ reader: ConfigReader, name: String = "configuration") throws(DirectDNSError) {
      let keys = ReaderKeys(reader: reader.snapshot())
      do throws(ConfigurationFault) {
        try self.init(keys.tree(name: name), name: name, providerPaths: keys.providerPaths())
      } catch {
        throw DirectDNSError(.invalidConfiguration, error.message)
      }
    }
  }
#endif
