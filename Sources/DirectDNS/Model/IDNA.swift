// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSIDN

/// Internationalised host names: UTS #46, nontransitional, through libidn2, label by label.
///
/// For domains that are not all ASCII. libidn2 is only asked about labels that need it: it refuses hyphens that real
/// hosts have (`r3---sn-x.googlevideo.com`, `a-.example`), which UTS #46 with `CheckHyphens=false` permits. A label
/// that it refuses is an error.
enum IDNA {
  /// libidn2's version.
  static var version: String { unsafe idn2_check_version(nil).map { unsafe String(cString: $0) } ?? "" }

  /// Whether a text begins with `xn--`, in either case: as a label, it claims to be the ASCII form of another.
  static func isALabel(_ text: Span<UInt8>) -> Bool {
    text.count >= 4 && text[0] | 0x20 == UInt8(ascii: "x") && text[1] | 0x20 == UInt8(ascii: "n")
      && text[2] == ASCII.hyphen && text[3] == ASCII.hyphen
  }

  /// The lower-case ASCII form of a domain, its empty labels and its final dot kept.
  static func ascii(_ domain: String) throws(DirectDNSError) -> String {
    var encoded: [String] = []
    var decoded: [String] = []
    for part in domain.unicodeScalars.split(omittingEmptySubsequences: false, whereSeparator: isDot) {
      let label = String(String.UnicodeScalarView(part))
      let ascii = try ascii(label: label)
      encoded.append(ascii)
      do throws(Refusal) { decoded.append(try unicode(ascii)) } catch { throw refusal(ascii, error.reason) }
    }
    if let offender = BidiRule.offender(in: decoded) {
      throw refusal(offender, "it mixes with right-to-left labels in a way that RFC 5893 forbids")
    }
    return encoded.joined(separator: ".")
  }

  /// The full stop and the three characters that count as one (UTS #46 §4 with the mappings of §5 to U+002E).
  private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "." || scalar == "\u{3002}" || scalar == "\u{FF0E}" || scalar == "\u{FF61}"
  }

  private static func ascii(label written: String) throws(DirectDNSError) -> String {
    guard !written.utf8.allSatisfy({ $0 < 0x80 }) else { return written.lowercased() }
    // UTS #46 maps ẞ to ß since revision 31 (Unicode 15.1); the table of libidn2 2.3.3 is older and gives "ss", which
    // is the name of another host.
    let scalars = written.unicodeScalars.map { $0 == "ẞ" ? "ß" : $0 }
    let label = String(String.UnicodeScalarView(scalars))
    let ascii: String
    do throws(Refusal) { ascii = try toASCII(label) } catch { throw refusal(written, error.reason) }
    // Some characters map to a full stop (U+2024); a browser would see two labels here.
    guard !ascii.utf8.contains(ASCII.dot) else {
      throw refusal(written, "a character in it stands for a dot")
    }
    return ascii
  }

  /// A label in Unicode; nil if it begins with `xn--` but is not the ASCII form of another label.
  static func unicode(label: String) -> String? { try? unicode(label) }

  /// Why a label is refused; the caller adds which label it is.
  private struct Refusal: Error {
    let reason: String
  }

  /// The Unicode form of a label that begins with `xn--`; any other label as it is.
  ///
  /// Encoding the form again must give the same label: otherwise there would be two spellings of one name, and another
  /// program could read the label differently.
  private static func unicode(_ label: String) throws(Refusal) -> String {
    guard isALabel(label.utf8.span) else { return label }
    let unicode = try unsafe converted(label) { input, output in unsafe idn2_to_unicode_8z8z(input, output, 0) }
    guard !unicode.utf8.allSatisfy({ $0 < 0x80 }), try toASCII(unicode) == label else {
      throw Refusal(reason: "encoding what it decodes to gives another label")
    }
    return unicode
  }

  /// Maps, checks and encodes one label.
  ///
  /// libidn2's nontransitional mode also applies the code point table of IDNA2008, which forbids `☃` and emoji in
  /// names; UTS #46 and browsers allow them. Its transitional mode follows UTS #46 and differs only in the deviation
  /// characters, but has no bidi rule: it is used for labels with neither such characters nor right-to-left ones.
  private static func toASCII(_ label: String) throws(Refusal) -> String {
    let needsNontransitional =
      label.unicodeScalars.contains(where: isDeviation) || BidiRule.isRightToLeft(label)
    let mode = needsNontransitional ? IDN2_NONTRANSITIONAL : IDN2_TRANSITIONAL
    return try unsafe converted(label) { input, output in
      unsafe idn2_to_ascii_8z(input, output, Int32(IDN2_NFC_INPUT.rawValue | mode.rawValue))
    }
  }

  /// The characters that transitional processing would map away (UTS #46 §4, "deviation").
  private static func isDeviation(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "ß" || scalar == "ς" || scalar == "\u{200C}" || scalar == "\u{200D}"
  }

  private static func refusal(_ label: String, _ reason: String) -> DirectDNSError {
    DirectDNSError(
      .invalidName, "The label \(DirectDNSError.quoted(label)) is not a valid international name: \(reason).")
  }

  /// Passes a label to one call of libidn2, and copies the text that the call allocated.
  private static func converted(
    _ label: String, by call: (UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt
  ) throws(Refusal) -> String {
    // A C string ends at its first NUL: the rest of the label would silently be lost.
    guard !label.utf8.contains(0) else { throw Refusal(reason: "it contains a NUL character") }
    // libidn2 refuses it, too, without a word about where it comes from.
    guard !label.unicodeScalars.contains("\u{FFFD}") else {
      throw Refusal(reason: "it has U+FFFD, which stands for bytes that are not UTF-8")
    }
    // Encoding takes quadratic time, and no label this long can encode to the 63 octets of DNS.
    guard label.utf8.count <= maximumInput else { throw Refusal(reason: "it is too long") }
    var output: UnsafeMutablePointer<CChar>?
    defer { unsafe idn2_free(output) }
    let status = unsafe label.withCString { input in unsafe call(input, &output) }
    guard status == IDN2_OK.rawValue, let text = unsafe output else {
      throw Refusal(reason: unsafe String(cString: idn2_strerror(status)))
    }
    return unsafe String(cString: text)
  }

  private static let maximumInput = 1_000
}

/// The rule of RFC 5893 for labels in a name with a right-to-left label.
///
/// libidn2 judges each label alone, but the rule is about the whole name (UTS #46 `CheckBidi`): next to Hebrew or
/// Arabic, `1a` would be shown in a different order than it is read. The standard library has no bidi classes, so a
/// label is accepted only if its general categories leave no doubt.
private enum BidiRule {
  /// The first label that may not be in a name with right-to-left labels; nil if there is none.
  static func offender(in labels: [String]) -> String? {
    guard labels.contains(where: isRightToLeft) else { return nil }
    return labels.first { label in
      !label.isEmpty
        && !(isRightToLeft(label) ? endsRightToLeft(label) && !mixesDigits(label) : isLeftToRight(label))
    }
  }

  /// Whether a label has a character of class R, AL or AN; unassigned characters of their blocks count too.
  static func isRightToLeft(_ label: String) -> Bool { label.unicodeScalars.contains { isRightToLeft(scalar: $0) } }

  private static func isRightToLeft(scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0590...0x08FF, 0x200F, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x1_0800...0x1_0FFF,
      0x1_E800...0x1_EFFF:
      !isEuropeanDigit(scalar) && !isMark(scalar)
    default: false
    }
  }

  /// The digits of class EN that a name may have; the extended Arabic-Indic ones are among them.
  private static func isEuropeanDigit(_ scalar: Unicode.Scalar) -> Bool {
    (0x30...0x39).contains(scalar.value) || (0x06F0...0x06F9).contains(scalar.value)
  }

  /// The marks of class NSM.
  private static func isMark(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .nonspacingMark }

  /// RFC 5893 §2, rule 3: ends in R, AL, EN or AN before any marks; libidn2 does not look behind those.
  private static func endsRightToLeft(_ label: String) -> Bool {
    guard let last = label.unicodeScalars.last(where: { !isMark($0) }) else { return false }
    return isRightToLeft(scalar: last) || isEuropeanDigit(last)
  }

  /// Whether a label has digits of class EN and of class AN (RFC 5893 §2, rule 4), which libidn2 does not look for.
  private static func mixesDigits(_ label: String) -> Bool {
    label.unicodeScalars.contains(where: isEuropeanDigit) && label.unicodeScalars.contains(where: isArabicNumber)
  }

  /// The digits and number signs of class AN that a name may have: Arabic-Indic ones, Hanifi Rohingya and Rumi.
  private static func isArabicNumber(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0660...0x0669, 0x066B...0x066C, 0x1_0D30...0x1_0D39, 0x1_0E60...0x1_0E7E: true
    default: false
    }
  }

  /// RFC 5893 §2, rules 1, 5 and 6: begins with L, ends in L or EN before any marks.
  private static func isLeftToRight(_ label: String) -> Bool {
    let scalars = label.unicodeScalars
    guard let first = scalars.first, isLetter(first) else { return false }
    guard let last = scalars.last(where: { !isMark($0) }) else { return false }
    return isLetter(last) || last.properties.generalCategory == .decimalNumber
  }

  /// Letters other than modifier letters, some of which are neutral, are of class L in these blocks.
  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .otherLetter: true
    default: false
    }
  }
}
