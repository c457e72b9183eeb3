// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// The data of `-d`, `-F` and similar options.
struct FormData: Sendable, Hashable {
  var bytes: [UInt8]
  /// The fields that go with it, unless `-H` says otherwise.
  var fields: HTTPFields
  /// The boundary between the parts of a `-F`; nil for other data.
  var boundary: String?

  /// Joins the parts.
  ///
  /// - Parameters:
  ///   - parts: the options' values, of kinds that go together.
  ///   - boundary: the boundary, if it is a form.
  ///   - file: returns the content of a file that an option names.
  /// - Throws: what `file` throws, and what is wrong with a part.
  init(
    _ parts: [DataPart], boundary: String,
    file: (_ path: String, _ option: String) throws(CommandError) -> [UInt8]
  ) throws(CommandError) {
    bytes = []
    switch parts.first?.kind {
    case .formPart?, .formText?:
      for (index, part) in parts.enumerated() {
        let place = parts.count > 1 ? " (part \(index + 1) of \(parts.count))" : ""
        bytes += try FormPart(part, at: place).bytes(boundary) { path throws(CommandError) in
          try file(path, part.option)
        }
      }
      bytes += Array("--\(boundary)--\r\n".utf8)
      self.boundary = boundary
      fields = [.contentType: "multipart/form-data; boundary=\(boundary)"]
    case .json?: fields = [.contentType: "application/json", .accept: "application/json"]
    default: fields = [.contentType: "application/x-www-form-urlencoded"]
    }
    guard self.boundary == nil else { return }
    for (index, part) in parts.enumerated() {
      if index > 0, part.kind != .json { bytes.append(UInt8(ascii: "&")) }
      bytes += try Self.bytes(of: part, file: file)
    }
  }

  private static func bytes(
    of part: DataPart, file: (_ path: String, _ option: String) throws(CommandError) -> [UInt8]
  ) throws(CommandError) -> [UInt8] {
    if part.kind == .urlEncoded {
      let encoded = URLEncodedPart(part.text)
      let content =
        switch encoded.content {
        case .text(let text): Array(text.utf8)
        case .file(let path): try file(path, part.option)
        }
      return Array(encoded.name.utf8) + URLEncodedPart.encoded(content)
    }
    guard part.kind != .raw, part.text.hasPrefix("@") else { return Array(part.text.utf8) }
    let content = try file(String(part.text.dropFirst()), part.option)
    return part.kind == .form ? InputFile.withoutLineEnds(content) : content
  }
}

extension RequestFlags {
  /// The data to send; nil without any.
  func formData(in context: CommandContext) throws(CommandError) -> FormData? {
    let plain = (data + rawData + binaryData + encodedData).sorted { $0.order < $1.order }
    let form = (formParts + formTexts).sorted { $0.order < $1.order }
    let given = [plain, jsonData, form].filter { !$0.isEmpty }
    guard let parts = given.first else { return nil }
    guard given.count == 1 else {
      throw CommandError(.usage, "give -d and its kin, --json, or -F, one of them: a request has one body.")
    }
    guard form.isEmpty || !putsDataInURL else {
      throw CommandError(.usage, "-G and -F do not go together: a query has no parts. Give -d or --data-urlencode.")
    }
    return try FormData(parts, boundary: FormPart.newBoundary()) { path, option throws(CommandError) in
      try InputFile.read(path, for: option, by: context.readFile)
    }
  }
}
