internal import DirectDNS
internal import HTTPTypes

/// What `-d` and its kin send.
struct FormData: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case form, raw, binary, json
  }

  /// `@-`, as the name of a file.
  static let inputName = "-"

  var bytes: [UInt8]
  var kind: Kind

  /// The fields that go with it, unless `-H` says otherwise.
  var fields: HTTPFields {
    kind == .json
      ? [.contentType: "application/json", .accept: "application/json"]
      : [.contentType: "application/x-www-form-urlencoded"]
  }

  /// Puts the parts together.
  ///
  /// - Parameters:
  ///   - parts: the options' values.
  ///   - kind: which option they come from.
  ///   - file: gives the content of a file, and that of standard input for `-`.
  /// - Throws: what `file` throws.
  init(
    _ parts: [String], _ kind: Kind, file: (String) async throws(SettingsError) -> [UInt8]
  ) async throws(SettingsError) {
    self.kind = kind
    bytes = []
    for (index, part) in parts.enumerated() {
      if index > 0, kind != .json { bytes.append(UInt8(ascii: "&")) }
      guard kind != .raw, part.hasPrefix("@") else {
        bytes += Array(part.utf8)
        continue
      }
      let content = try await file(String(part.dropFirst()))
      bytes += kind == .form ? content.filter { $0 != 0x0d && $0 != 0x0a && $0 != 0 } : content
    }
  }
}

extension RequestFlags {
  /// The data to send; nil without any.
  func formData(in context: CommandContext) async throws(SettingsError) -> FormData? {
    let given: [(parts: [String], kind: FormData.Kind)] = [
      (data, .form), (rawData, .raw), (binaryData, .binary), (jsonData, .json),
    ].filter { !$0.0.isEmpty }
    guard let first = given.first else { return nil }
    guard given.count == 1 else {
      throw SettingsError(
        .usage, "Give -d, --data-raw, --data-binary or --json, one of them: their order would be lost.")
    }
    return try await FormData(first.parts, first.kind) { path async throws(SettingsError) in
      guard path == FormData.inputName else { return try InputFile.read(path, for: "-d", by: context.readFile) }
      return try await Self.everything(from: context.input)
    }
  }

  private static func everything(from input: any InputSource) async throws(SettingsError) -> [UInt8] {
    var all: [UInt8] = []
    do throws(StreamError) {
      while case let piece = try await input.read(), !piece.isEmpty { all += piece }
    } catch {
      throw SettingsError(.streams, "standard input cannot be read: \(error.reason).")
    }
    return all
  }
}
