// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// What one option adds to a request's body: its text, and its place among the options that do the same.
struct DataPart: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    /// `-d`: `@FILE` is a file without its line ends.
    case form
    /// `--data-raw`: `@` has no meaning.
    case raw
    /// `--data-binary`: files as they are.
    case binary
    /// `--data-urlencode`.
    case urlEncoded
    /// `--json`.
    case json
    /// `-F`.
    case formPart
    /// `--form-string`: neither `@` nor `;` has a meaning.
    case formText
  }

  let kind: Kind
  let text: String
  /// The place: options of different names are parsed into different lists, from left to right.
  let order: Int

  private static let count = Atomic<Int>(0)

  /// The option, for error messages.
  var option: String {
    switch kind {
    case .form: "-d"
    case .raw: "--data-raw"
    case .binary: "--data-binary"
    case .urlEncoded: "--data-urlencode"
    case .json: "--json"
    case .formPart: "-F"
    case .formText: "--form-string"
    }
  }

  init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
    order = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
  }
}

/// `--data-urlencode`, in curl's five forms.
struct URLEncodedPart: Sendable, Hashable {
  /// The name with its equals sign, not encoded.
  let name: String
  /// The text, or where it comes from.
  let content: Content

  enum Content: Sendable, Hashable {
    case text(String)
    case file(String)
  }

  /// Reads `content`, `=content`, `name=content`, `@file` and `name@file`.
  ///
  /// As in curl, `@` counts only where there is no `=` at all: `me@x.org=1` is a name and its content.
  init(_ text: String) {
    let scalars = text.unicodeScalars
    guard let sign = scalars.firstIndex(of: "=") ?? scalars.firstIndex(of: "@") else {
      (name, content) = ("", .text(text))
      return
    }
    let front = String(scalars[..<sign])
    let rest = String(scalars[scalars.index(after: sign)...])
    name = front.isEmpty ? "" : front + "="
    content = scalars[sign] == "=" ? .text(rest) : .file(rest)
  }

  /// The encoding of forms.
  static func encoded(_ bytes: [UInt8]) -> [UInt8] { Array(PercentEncoding.formEncoded(bytes).utf8) }
}
