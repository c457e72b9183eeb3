// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import HTTPTypes

/// What is sent, with curl's options.
struct RequestFlags: ParsableArguments {
  @Option(
    name: [.customShort("X"), .customLong("request")],
    help: ArgumentHelp("The method. (default: GET; POST with -d, PUT with -T, HEAD with -I)", valueName: "method"),
    transform: { text in
      guard let method = HTTPRequest.Method(text) else {
        throw ValidationError("\"\(text.printable)\" is not an HTTP method. Write GET, POST or the like.")
      }
      return method
    })
  var method: HTTPRequest.Method?

  @Option(
    name: [.customShort("H"), .customLong("header")], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A header field: 'Name: value'; 'Name:' leaves out one that would be sent, 'Name;' sends an empty one; @FILE holds one a line.",
      valueName: "field|@file"))
  var headers: [String] = []

  @Option(
    name: [.customShort("d"), .customLong("data"), .customLong("data-ascii")], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Data to POST as a form; several are joined by &. @FILE sends a file without its line ends, @- standard input.",
      valueName: "data|@file"),
    transform: { DataPart(.form, $0) })
  var data: [DataPart] = []

  @Option(
    name: .customLong("data-raw"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("As -d, but @ has no meaning.", valueName: "data"), transform: { DataPart(.raw, $0) })
  var rawData: [DataPart] = []

  @Option(
    name: .customLong("data-binary"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("As -d, but files are sent as they are.", valueName: "data|@file"),
    transform: { DataPart(.binary, $0) })
  var binaryData: [DataPart] = []

  @Option(
    name: .customLong("data-urlencode"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "As -d, with the content percent-encoded: content, =content, name=content, @FILE or name@FILE.",
      valueName: "data|name@file"),
    transform: { DataPart(.urlEncoded, $0) })
  var encodedData: [DataPart] = []

  @Flag(
    name: [.customShort("G"), .customLong("get")],
    help: "Append the data of -d and similar options to the URL's query, and send a GET.")
  var putsDataInURL = false

  @Option(
    name: [.customShort("F"), .customLong("form")], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A part of a form (multipart/form-data): name=content, name=@FILE to upload a file, name=<FILE for its content; followed by ;type= and ;filename= if needed.",
      valueName: "name=content"),
    transform: { DataPart(.formPart, $0) })
  var formParts: [DataPart] = []

  @Option(
    name: .customLong("form-string"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("As -F, but @, < and ; have no meaning.", valueName: "name=content"),
    transform: { DataPart(.formText, $0) })
  var formTexts: [DataPart] = []

  @Option(
    name: .customLong("json"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "As --data-binary, of type application/json; several are put together.", valueName: "data|@file"),
    transform: { DataPart(.json, $0) })
  var jsonData: [DataPart] = []

  @Option(
    name: [.customShort("T"), .customLong("upload-file")], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A file to PUT, - for standard input; a URL that ends in / gets its name. The first one goes to the first URL, and so on.",
      valueName: "file"),
    completion: .file())
  var uploads: [String] = []

  @Flag(name: [.customShort("I"), .customLong("head")], help: "Ask for the head alone, and show it.")
  var asksForHead = false

  @Option(
    name: [.customShort("A"), .customLong("user-agent")], parsing: .unconditional,
    help: ArgumentHelp(
      "The User-Agent; an empty one is not sent. (default: dnsctl and its version)", valueName: "name"),
    transform: { text in
      let name = String(text[...].trimmed)
      guard HTTPField.isValidValue(name) else {
        throw ValidationError("-A: the name has a character that no header field may have.")
      }
      return name
    })
  var userAgent: String?

  @Option(
    name: [.customShort("r"), .customLong("range")], parsing: .unconditional,
    help: ArgumentHelp(
      "The bytes to ask for: 0-499, 500-, -500 for the last ones, or several with commas.", valueName: "range"))
  var range: String?

  @Option(
    name: [.customShort("u"), .customLong("user")], parsing: .unconditional,
    help: ArgumentHelp(
      "Name and password for the server. They go to no other one. @FILE holds them in its first line.",
      valueName: "user:password|@file"))
  var user: String?

  @Option(
    name: [.customShort("b"), .customLong("cookie")], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Cookies: 'name=value; …' for the URL's host, or a cookie file to begin with, - for standard input; @FILE is a file whatever its name.",
      valueName: "data|file"),
    completion: .file())
  var cookies: [String] = []

  @Option(
    name: [.customShort("c"), .customLong("cookie-jar")],
    help: ArgumentHelp("Where to write all cookies at the end, - for standard output.", valueName: "file"),
    completion: .file())
  var jarPath: String?

  @Option(
    name: .customLong("secret-header"),
    help: ArgumentHelp(
      "A header field that is a secret, as Authorization and Cookie are: redirects take it to no other server, and -v does not show it.",
      valueName: "name"),
    transform: { text in
      guard let name = HTTPField.Name(text) else {
        throw ValidationError("\"\(text.printable)\" is not a header field's name. Write X-Api-Key, for example.")
      }
      return name
    })
  var secretHeaders: [HTTPField.Name] = []

  @Flag(name: .customLong("compressed"), help: "Ask for a compressed response, and decode it.")
  var asksForCompression = false

  @Flag(name: [.customShort("g"), .customLong("globoff")], help: "Take URLs literally, which is the default.")
  var takesURLsAsTheyStand = false

  @Flag(exclusivity: .chooseLast)
  var redirectFlag: RedirectFlag?

  @Option(
    name: .customLong("max-redirs"), parsing: .unconditional,
    help: ArgumentHelp("How many redirects are followed in a row; -1 for any number. (default: 20)", valueName: "n"),
    transform: { text in
      guard let limit = Int(text), limit >= -1 else {
        throw ValidationError("\"\(text.printable)\" is not a number of redirects. Give 0 or more, or -1 for any.")
      }
      return limit
    })
  var redirectLimit = 20
}

/// Whether redirects are followed; the last of the flags counts, as in curl.
enum RedirectFlag: EnumerableFlag, Sendable {
  case follow, stay

  static func name(for flag: RedirectFlag) -> NameSpecification {
    switch flag {
    case .follow: [.customShort("L"), .customLong("location")]
    case .stay: .customLong("no-location")
    }
  }

  static func help(for flag: RedirectFlag) -> ArgumentHelp? {
    switch flag {
    case .follow: "Follow redirects, which is the default."
    case .stay: "Do not follow redirects."
    }
  }
}

extension RequestFlags {
  /// How redirects are followed; nil for not at all.
  var redirects: RedirectConfiguration? {
    guard redirectFlag != .stay else { return nil }
    return RedirectConfiguration(
      limit: redirectLimit < 0 ? .max : redirectLimit, secretFields: Set(secretHeaders))
  }
}
