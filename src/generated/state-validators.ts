// @ts-nocheck
// Made by `npm run generate` from schemas/state. Do not edit.
import type { StoredFormat, Validator } from '../model/stored-file.ts'
import type { DomainFile, JournalFile, WaveFile, RolloutFile, PlanFile, AddressFile, Call } from './state-types.ts'

/** What a text is expected to be, by the pattern that it has to match. */
const expected: Record<string, string> = {
  "^sha256:[0-9a-f]{64}$": "a hash such as sha256:4f2c… with 64 digits",
  "^[A-Za-z0-9_-]+$": "letters, digits, \"_\" and \"-\"",
  "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$": "a time such as 2026-11-20T03:00:00.000Z",
  "^[0-9]+$": "the number of a write"
}

var domainFileFits = validate10;
var schema13 = { type: "object", required: ["status", "candidates", "at", "apply", "origin"], properties: { status: { type: "string", enum: ["confirmed", "in-doubt", "unset"] }, candidates: { type: "array", items: !0 }, at: { $ref: "#/$defs/time" }, apply: { type: "string" }, origin: { type: "string", enum: ["write", "import"] }, unknown: { type: "boolean" }, open: { const: !0 }, returned: !0, templates: { type: "object", additionalProperties: { type: "string" } } }, if: { type: "object", properties: { status: { const: "confirmed" } } }, then: { type: "object", properties: { candidates: { type: "array", minItems: 1, maxItems: 1 } } }, else: { if: { type: "object", properties: { status: { const: "unset" } } }, then: { type: "object", properties: { candidates: { type: "array", maxItems: 1 } } }, else: { if: { type: "object", required: ["unknown"], properties: { unknown: { const: !0 } } }, else: { type: "object", properties: { candidates: { type: "array", minItems: 1 } } } } } };
var pattern0 = new RegExp("^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$", "u");
function validate12(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0, _errs1 = errors, valid0 = !0, _errs2 = errors;
  if (errors === _errs2)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.status !== void 0 && data.status !== "confirmed") {
        let err0 = {};
        vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
      }
    } else {
      let err1 = {};
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
  var _valid0 = _errs2 === errors;
  errors = _errs1, vErrors !== null && (_errs1 ? vErrors.length = _errs1 : vErrors = null);
  let ifClause0;
  if (_valid0) {
    let _errs5 = errors;
    if (errors === _errs5)
      if (data && typeof data == "object" && !Array.isArray(data)) {
        if (data.candidates !== void 0) {
          let data1 = data.candidates;
          if (errors === errors)
            if (Array.isArray(data1)) {
              if (data1.length > 1)
                return validate12.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/then/properties/candidates/maxItems", keyword: "maxItems", params: { limit: 1 } }], !1;
              if (data1.length < 1)
                return validate12.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/then/properties/candidates/minItems", keyword: "minItems", params: { limit: 1 } }], !1;
            } else
              return validate12.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/then/properties/candidates/type", keyword: "type", params: { type: "array" } }], !1;
        }
      } else
        return validate12.errors = [{ instancePath, schemaPath: "#/then/type", keyword: "type", params: { type: "object" } }], !1;
    var _valid0 = _errs5 === errors;
    valid0 = _valid0, ifClause0 = "then";
  } else {
    let _errs9 = errors, _errs10 = errors, valid3 = !0, _errs11 = errors;
    if (errors === _errs11)
      if (data && typeof data == "object" && !Array.isArray(data)) {
        if (data.status !== void 0 && data.status !== "unset") {
          let err2 = {};
          vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
        }
      } else {
        let err3 = {};
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    var _valid1 = _errs11 === errors;
    errors = _errs10, vErrors !== null && (_errs10 ? vErrors.length = _errs10 : vErrors = null);
    let ifClause1;
    if (_valid1) {
      let _errs14 = errors;
      if (errors === _errs14)
        if (data && typeof data == "object" && !Array.isArray(data)) {
          if (data.candidates !== void 0) {
            let data3 = data.candidates;
            if (errors === errors)
              if (Array.isArray(data3)) {
                if (data3.length > 1)
                  return validate12.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/else/then/properties/candidates/maxItems", keyword: "maxItems", params: { limit: 1 } }], !1;
              } else
                return validate12.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/else/then/properties/candidates/type", keyword: "type", params: { type: "array" } }], !1;
          }
        } else
          return validate12.errors = [{ instancePath, schemaPath: "#/else/then/type", keyword: "type", params: { type: "object" } }], !1;
      var _valid1 = _errs14 === errors;
      valid3 = _valid1, ifClause1 = "then";
    } else {
      let _errs18 = errors, _errs19 = errors, valid6 = !0, _errs20 = errors;
      if (errors === _errs20)
        if (data && typeof data == "object" && !Array.isArray(data)) {
          let missing0;
          if (data.unknown === void 0 && (missing0 = "unknown")) {
            let err4 = {};
            vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
          } else if (data.unknown !== void 0 && data.unknown !== !0) {
            let err5 = {};
            vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
          }
        } else {
          let err6 = {};
          vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
        }
      var _valid2 = _errs20 === errors;
      if (errors = _errs19, vErrors !== null && (_errs19 ? vErrors.length = _errs19 : vErrors = null), !_valid2) {
        let _errs23 = errors;
        if (errors === _errs23)
          if (data && typeof data == "object" && !Array.isArray(data)) {
            if (data.candidates !== void 0) {
              let data5 = data.candidates;
              if (errors === errors)
                if (Array.isArray(data5)) {
                  if (data5.length < 1)
                    return validate12.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/else/else/else/properties/candidates/minItems", keyword: "minItems", params: { limit: 1 } }], !1;
                } else
                  return validate12.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/else/else/else/properties/candidates/type", keyword: "type", params: { type: "array" } }], !1;
            }
          } else
            return validate12.errors = [{ instancePath, schemaPath: "#/else/else/else/type", keyword: "type", params: { type: "object" } }], !1;
        var _valid2 = _errs23 === errors;
        valid6 = _valid2;
      }
      if (!valid6) {
        let err7 = { instancePath, schemaPath: "#/else/else/if", keyword: "if", params: { failingKeyword: "else" } };
        return vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++, validate12.errors = vErrors, !1;
      }
      var _valid1 = _errs18 === errors;
      valid3 = _valid1, ifClause1 = "else";
    }
    if (!valid3) {
      let err8 = { instancePath, schemaPath: "#/else/if", keyword: "if", params: { failingKeyword: ifClause1 } };
      return vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++, validate12.errors = vErrors, !1;
    }
    var _valid0 = _errs9 === errors;
    valid0 = _valid0, ifClause0 = "else";
  }
  if (!valid0) {
    let err9 = { instancePath, schemaPath: "#/if", keyword: "if", params: { failingKeyword: ifClause0 } };
    return vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++, validate12.errors = vErrors, !1;
  }
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing1;
      if (data.status === void 0 && (missing1 = "status") || data.candidates === void 0 && (missing1 = "candidates") || data.at === void 0 && (missing1 = "at") || data.apply === void 0 && (missing1 = "apply") || data.origin === void 0 && (missing1 = "origin"))
        return validate12.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing1 } }], !1;
      if (data.status !== void 0) {
        let data6 = data.status, _errs27 = errors;
        if (typeof data6 != "string")
          return validate12.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/type", keyword: "type", params: { type: "string" } }], !1;
        if (!(data6 === "confirmed" || data6 === "in-doubt" || data6 === "unset"))
          return validate12.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/enum", keyword: "enum", params: { allowedValues: schema13.properties.status.enum } }], !1;
        var valid9 = _errs27 === errors;
      } else
        var valid9 = !0;
      if (valid9) {
        if (data.candidates !== void 0) {
          let _errs29 = errors;
          if (errors === _errs29 && !Array.isArray(data.candidates))
            return validate12.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/properties/candidates/type", keyword: "type", params: { type: "array" } }], !1;
          var valid9 = _errs29 === errors;
        } else
          var valid9 = !0;
        if (valid9) {
          if (data.at !== void 0) {
            let data8 = data.at, _errs31 = errors;
            if (errors === errors)
              if (typeof data8 == "string") {
                if (!pattern0.test(data8))
                  return validate12.errors = [{ instancePath: instancePath + "/at", schemaPath: "#/$defs/time/pattern", keyword: "pattern", params: { pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$" } }], !1;
              } else
                return validate12.errors = [{ instancePath: instancePath + "/at", schemaPath: "#/$defs/time/type", keyword: "type", params: { type: "string" } }], !1;
            var valid9 = _errs31 === errors;
          } else
            var valid9 = !0;
          if (valid9) {
            if (data.apply !== void 0) {
              let _errs34 = errors;
              if (typeof data.apply != "string")
                return validate12.errors = [{ instancePath: instancePath + "/apply", schemaPath: "#/properties/apply/type", keyword: "type", params: { type: "string" } }], !1;
              var valid9 = _errs34 === errors;
            } else
              var valid9 = !0;
            if (valid9) {
              if (data.origin !== void 0) {
                let data10 = data.origin, _errs36 = errors;
                if (typeof data10 != "string")
                  return validate12.errors = [{ instancePath: instancePath + "/origin", schemaPath: "#/properties/origin/type", keyword: "type", params: { type: "string" } }], !1;
                if (!(data10 === "write" || data10 === "import"))
                  return validate12.errors = [{ instancePath: instancePath + "/origin", schemaPath: "#/properties/origin/enum", keyword: "enum", params: { allowedValues: schema13.properties.origin.enum } }], !1;
                var valid9 = _errs36 === errors;
              } else
                var valid9 = !0;
              if (valid9) {
                if (data.unknown !== void 0) {
                  let _errs38 = errors;
                  if (typeof data.unknown != "boolean")
                    return validate12.errors = [{ instancePath: instancePath + "/unknown", schemaPath: "#/properties/unknown/type", keyword: "type", params: { type: "boolean" } }], !1;
                  var valid9 = _errs38 === errors;
                } else
                  var valid9 = !0;
                if (valid9) {
                  if (data.open !== void 0) {
                    let _errs40 = errors;
                    if (data.open !== !0)
                      return validate12.errors = [{ instancePath: instancePath + "/open", schemaPath: "#/properties/open/const", keyword: "const", params: { allowedValue: !0 } }], !1;
                    var valid9 = _errs40 === errors;
                  } else
                    var valid9 = !0;
                  if (valid9)
                    if (data.templates !== void 0) {
                      let data13 = data.templates, _errs41 = errors;
                      if (errors === _errs41)
                        if (data13 && typeof data13 == "object" && !Array.isArray(data13))
                          for (let key0 in data13) {
                            let _errs44 = errors;
                            if (typeof data13[key0] != "string")
                              return validate12.errors = [{ instancePath: instancePath + "/templates/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/templates/additionalProperties/type", keyword: "type", params: { type: "string" } }], !1;
                            var valid11 = _errs44 === errors;
                            if (!valid11)
                              break;
                          }
                        else
                          return validate12.errors = [{ instancePath: instancePath + "/templates", schemaPath: "#/properties/templates/type", keyword: "type", params: { type: "object" } }], !1;
                      var valid9 = _errs41 === errors;
                    } else
                      var valid9 = !0;
                }
              }
            }
          }
        }
      }
    } else
      return validate12.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }], !1;
  return validate12.errors = vErrors, errors === 0;
}
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.format === void 0 && (missing0 = "format") || data.domain === void 0 && (missing0 = "domain") || data.items === void 0 && (missing0 = "items"))
        return validate10.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }], !1;
      if (data.format !== void 0) {
        let _errs1 = errors;
        if (data.format !== "edgewise.record/1")
          return validate10.errors = [{ instancePath: instancePath + "/format", schemaPath: "#/properties/format/const", keyword: "const", params: { allowedValue: "edgewise.record/1" } }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.domain !== void 0) {
          let _errs2 = errors;
          if (typeof data.domain != "string")
            return validate10.errors = [{ instancePath: instancePath + "/domain", schemaPath: "#/properties/domain/type", keyword: "type", params: { type: "string" } }], !1;
          var valid0 = _errs2 === errors;
        } else
          var valid0 = !0;
        if (valid0)
          if (data.items !== void 0) {
            let data2 = data.items, _errs4 = errors;
            if (errors === _errs4)
              if (data2 && typeof data2 == "object" && !Array.isArray(data2))
                for (let key0 in data2) {
                  let _errs7 = errors;
                  validate12(data2[key0], { instancePath: instancePath + "/items/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), parentData: data2, parentDataProperty: key0, rootData }) || (vErrors = vErrors === null ? validate12.errors : vErrors.concat(validate12.errors), errors = vErrors.length);
                  var valid1 = _errs7 === errors;
                  if (!valid1)
                    break;
                }
              else
                return validate10.errors = [{ instancePath: instancePath + "/items", schemaPath: "#/properties/items/type", keyword: "type", params: { type: "object" } }], !1;
            var valid0 = _errs4 === errors;
          } else
            var valid0 = !0;
      }
    } else
      return validate10.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }], !1;
  return validate10.errors = vErrors, errors === 0;
}
var journalFileFits = validate14, schema15 = { $id: "https://edgewise.invalid/schemas/state/journal.schema.json", type: "object", required: ["format", "id", "startedAt", "endedAt", "commit", "author", "writes", "outcome", "settled"], properties: { format: { const: "edgewise.journal/1" }, id: { type: "string" }, startedAt: { $ref: "shared.schema.json#/$defs/time" }, endedAt: { $ref: "shared.schema.json#/$defs/timeOrNull" }, commit: { type: ["string", "null"] }, author: { type: ["string", "null"] }, writes: { type: "object", required: ["confirmed", "refused", "inDoubt", "notSent"], properties: { confirmed: { type: "integer", minimum: 0 }, refused: { type: "integer", minimum: 0 }, inDoubt: { type: "integer", minimum: 0 }, notSent: { type: "integer", minimum: 0 } } }, outcome: { type: "string", enum: ["unfinished", "complete", "incomplete", "interrupted"] }, settled: { type: "array", items: { type: "integer", minimum: 0 } } } }, schema17 = { type: ["string", "null"], pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$" };
function validate14(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.format === void 0 && (missing0 = "format") || data.id === void 0 && (missing0 = "id") || data.startedAt === void 0 && (missing0 = "startedAt") || data.endedAt === void 0 && (missing0 = "endedAt") || data.commit === void 0 && (missing0 = "commit") || data.author === void 0 && (missing0 = "author") || data.writes === void 0 && (missing0 = "writes") || data.outcome === void 0 && (missing0 = "outcome") || data.settled === void 0 && (missing0 = "settled"))
        return validate14.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }], !1;
      if (data.format !== void 0) {
        let _errs1 = errors;
        if (data.format !== "edgewise.journal/1")
          return validate14.errors = [{ instancePath: instancePath + "/format", schemaPath: "#/properties/format/const", keyword: "const", params: { allowedValue: "edgewise.journal/1" } }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.id !== void 0) {
          let _errs2 = errors;
          if (typeof data.id != "string")
            return validate14.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }], !1;
          var valid0 = _errs2 === errors;
        } else
          var valid0 = !0;
        if (valid0) {
          if (data.startedAt !== void 0) {
            let data2 = data.startedAt, _errs4 = errors;
            if (errors === errors)
              if (typeof data2 == "string") {
                if (!pattern0.test(data2))
                  return validate14.errors = [{ instancePath: instancePath + "/startedAt", schemaPath: "shared.schema.json#/$defs/time/pattern", keyword: "pattern", params: { pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$" } }], !1;
              } else
                return validate14.errors = [{ instancePath: instancePath + "/startedAt", schemaPath: "shared.schema.json#/$defs/time/type", keyword: "type", params: { type: "string" } }], !1;
            var valid0 = _errs4 === errors;
          } else
            var valid0 = !0;
          if (valid0) {
            if (data.endedAt !== void 0) {
              let data3 = data.endedAt, _errs7 = errors, _errs8 = errors;
              if (typeof data3 != "string" && data3 !== null)
                return validate14.errors = [{ instancePath: instancePath + "/endedAt", schemaPath: "shared.schema.json#/$defs/timeOrNull/type", keyword: "type", params: { type: schema17.type } }], !1;
              if (errors === _errs8 && typeof data3 == "string" && !pattern0.test(data3))
                return validate14.errors = [{ instancePath: instancePath + "/endedAt", schemaPath: "shared.schema.json#/$defs/timeOrNull/pattern", keyword: "pattern", params: { pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$" } }], !1;
              var valid0 = _errs7 === errors;
            } else
              var valid0 = !0;
            if (valid0) {
              if (data.commit !== void 0) {
                let data4 = data.commit, _errs10 = errors;
                if (typeof data4 != "string" && data4 !== null)
                  return validate14.errors = [{ instancePath: instancePath + "/commit", schemaPath: "#/properties/commit/type", keyword: "type", params: { type: schema15.properties.commit.type } }], !1;
                var valid0 = _errs10 === errors;
              } else
                var valid0 = !0;
              if (valid0) {
                if (data.author !== void 0) {
                  let data5 = data.author, _errs12 = errors;
                  if (typeof data5 != "string" && data5 !== null)
                    return validate14.errors = [{ instancePath: instancePath + "/author", schemaPath: "#/properties/author/type", keyword: "type", params: { type: schema15.properties.author.type } }], !1;
                  var valid0 = _errs12 === errors;
                } else
                  var valid0 = !0;
                if (valid0) {
                  if (data.writes !== void 0) {
                    let data6 = data.writes, _errs14 = errors;
                    if (errors === _errs14)
                      if (data6 && typeof data6 == "object" && !Array.isArray(data6)) {
                        let missing1;
                        if (data6.confirmed === void 0 && (missing1 = "confirmed") || data6.refused === void 0 && (missing1 = "refused") || data6.inDoubt === void 0 && (missing1 = "inDoubt") || data6.notSent === void 0 && (missing1 = "notSent"))
                          return validate14.errors = [{ instancePath: instancePath + "/writes", schemaPath: "#/properties/writes/required", keyword: "required", params: { missingProperty: missing1 } }], !1;
                        if (data6.confirmed !== void 0) {
                          let data7 = data6.confirmed, _errs16 = errors;
                          if (!(typeof data7 == "number" && !(data7 % 1) && !isNaN(data7) && isFinite(data7)))
                            return validate14.errors = [{ instancePath: instancePath + "/writes/confirmed", schemaPath: "#/properties/writes/properties/confirmed/type", keyword: "type", params: { type: "integer" } }], !1;
                          if (errors === _errs16 && typeof data7 == "number" && isFinite(data7) && (data7 < 0 || isNaN(data7)))
                            return validate14.errors = [{ instancePath: instancePath + "/writes/confirmed", schemaPath: "#/properties/writes/properties/confirmed/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }], !1;
                          var valid3 = _errs16 === errors;
                        } else
                          var valid3 = !0;
                        if (valid3) {
                          if (data6.refused !== void 0) {
                            let data8 = data6.refused, _errs18 = errors;
                            if (!(typeof data8 == "number" && !(data8 % 1) && !isNaN(data8) && isFinite(data8)))
                              return validate14.errors = [{ instancePath: instancePath + "/writes/refused", schemaPath: "#/properties/writes/properties/refused/type", keyword: "type", params: { type: "integer" } }], !1;
                            if (errors === _errs18 && typeof data8 == "number" && isFinite(data8) && (data8 < 0 || isNaN(data8)))
                              return validate14.errors = [{ instancePath: instancePath + "/writes/refused", schemaPath: "#/properties/writes/properties/refused/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }], !1;
                            var valid3 = _errs18 === errors;
                          } else
                            var valid3 = !0;
                          if (valid3) {
                            if (data6.inDoubt !== void 0) {
                              let data9 = data6.inDoubt, _errs20 = errors;
                              if (!(typeof data9 == "number" && !(data9 % 1) && !isNaN(data9) && isFinite(data9)))
                                return validate14.errors = [{ instancePath: instancePath + "/writes/inDoubt", schemaPath: "#/properties/writes/properties/inDoubt/type", keyword: "type", params: { type: "integer" } }], !1;
                              if (errors === _errs20 && typeof data9 == "number" && isFinite(data9) && (data9 < 0 || isNaN(data9)))
                                return validate14.errors = [{ instancePath: instancePath + "/writes/inDoubt", schemaPath: "#/properties/writes/properties/inDoubt/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }], !1;
                              var valid3 = _errs20 === errors;
                            } else
                              var valid3 = !0;
                            if (valid3)
                              if (data6.notSent !== void 0) {
                                let data10 = data6.notSent, _errs22 = errors;
                                if (!(typeof data10 == "number" && !(data10 % 1) && !isNaN(data10) && isFinite(data10)))
                                  return validate14.errors = [{ instancePath: instancePath + "/writes/notSent", schemaPath: "#/properties/writes/properties/notSent/type", keyword: "type", params: { type: "integer" } }], !1;
                                if (errors === _errs22 && typeof data10 == "number" && isFinite(data10) && (data10 < 0 || isNaN(data10)))
                                  return validate14.errors = [{ instancePath: instancePath + "/writes/notSent", schemaPath: "#/properties/writes/properties/notSent/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }], !1;
                                var valid3 = _errs22 === errors;
                              } else
                                var valid3 = !0;
                          }
                        }
                      } else
                        return validate14.errors = [{ instancePath: instancePath + "/writes", schemaPath: "#/properties/writes/type", keyword: "type", params: { type: "object" } }], !1;
                    var valid0 = _errs14 === errors;
                  } else
                    var valid0 = !0;
                  if (valid0) {
                    if (data.outcome !== void 0) {
                      let data11 = data.outcome, _errs24 = errors;
                      if (typeof data11 != "string")
                        return validate14.errors = [{ instancePath: instancePath + "/outcome", schemaPath: "#/properties/outcome/type", keyword: "type", params: { type: "string" } }], !1;
                      if (!(data11 === "unfinished" || data11 === "complete" || data11 === "incomplete" || data11 === "interrupted"))
                        return validate14.errors = [{ instancePath: instancePath + "/outcome", schemaPath: "#/properties/outcome/enum", keyword: "enum", params: { allowedValues: schema15.properties.outcome.enum } }], !1;
                      var valid0 = _errs24 === errors;
                    } else
                      var valid0 = !0;
                    if (valid0)
                      if (data.settled !== void 0) {
                        let data12 = data.settled, _errs26 = errors;
                        if (errors === _errs26)
                          if (Array.isArray(data12)) {
                            var valid4 = !0;
                            let len0 = data12.length;
                            for (let i0 = 0; i0 < len0; i0++) {
                              let data13 = data12[i0], _errs28 = errors;
                              if (!(typeof data13 == "number" && !(data13 % 1) && !isNaN(data13) && isFinite(data13)))
                                return validate14.errors = [{ instancePath: instancePath + "/settled/" + i0, schemaPath: "#/properties/settled/items/type", keyword: "type", params: { type: "integer" } }], !1;
                              if (errors === _errs28 && typeof data13 == "number" && isFinite(data13) && (data13 < 0 || isNaN(data13)))
                                return validate14.errors = [{ instancePath: instancePath + "/settled/" + i0, schemaPath: "#/properties/settled/items/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }], !1;
                              var valid4 = _errs28 === errors;
                              if (!valid4)
                                break;
                            }
                          } else
                            return validate14.errors = [{ instancePath: instancePath + "/settled", schemaPath: "#/properties/settled/type", keyword: "type", params: { type: "array" } }], !1;
                        var valid0 = _errs26 === errors;
                      } else
                        var valid0 = !0;
                  }
                }
              }
            }
          }
        }
      }
    } else
      return validate14.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }], !1;
  return validate14.errors = vErrors, errors === 0;
}
var waveFileFits = validate15;
function validate16(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0, _errs1 = errors, valid0 = !0, _errs2 = errors;
  if (errors === _errs2)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      if (data.status !== void 0 && data.status !== "confirmed") {
        let err0 = {};
        vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
      }
    } else {
      let err1 = {};
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
  var _valid0 = _errs2 === errors;
  errors = _errs1, vErrors !== null && (_errs1 ? vErrors.length = _errs1 : vErrors = null);
  let ifClause0;
  if (_valid0) {
    let _errs5 = errors;
    if (errors === _errs5)
      if (data && typeof data == "object" && !Array.isArray(data)) {
        if (data.candidates !== void 0) {
          let data1 = data.candidates;
          if (errors === errors)
            if (Array.isArray(data1)) {
              if (data1.length > 1)
                return validate16.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/then/properties/candidates/maxItems", keyword: "maxItems", params: { limit: 1 } }], !1;
              if (data1.length < 1)
                return validate16.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/then/properties/candidates/minItems", keyword: "minItems", params: { limit: 1 } }], !1;
            } else
              return validate16.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/then/properties/candidates/type", keyword: "type", params: { type: "array" } }], !1;
        }
      } else
        return validate16.errors = [{ instancePath, schemaPath: "#/then/type", keyword: "type", params: { type: "object" } }], !1;
    var _valid0 = _errs5 === errors;
    valid0 = _valid0, ifClause0 = "then";
  } else {
    let _errs9 = errors, _errs10 = errors, valid3 = !0, _errs11 = errors;
    if (errors === _errs11)
      if (data && typeof data == "object" && !Array.isArray(data)) {
        if (data.status !== void 0 && data.status !== "unset") {
          let err2 = {};
          vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
        }
      } else {
        let err3 = {};
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    var _valid1 = _errs11 === errors;
    errors = _errs10, vErrors !== null && (_errs10 ? vErrors.length = _errs10 : vErrors = null);
    let ifClause1;
    if (_valid1) {
      let _errs14 = errors;
      if (errors === _errs14)
        if (data && typeof data == "object" && !Array.isArray(data)) {
          if (data.candidates !== void 0) {
            let data3 = data.candidates;
            if (errors === errors)
              if (Array.isArray(data3)) {
                if (data3.length > 1)
                  return validate16.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/else/then/properties/candidates/maxItems", keyword: "maxItems", params: { limit: 1 } }], !1;
              } else
                return validate16.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/else/then/properties/candidates/type", keyword: "type", params: { type: "array" } }], !1;
          }
        } else
          return validate16.errors = [{ instancePath, schemaPath: "#/else/then/type", keyword: "type", params: { type: "object" } }], !1;
      var _valid1 = _errs14 === errors;
      valid3 = _valid1, ifClause1 = "then";
    } else {
      let _errs18 = errors, _errs19 = errors, valid6 = !0, _errs20 = errors;
      if (errors === _errs20)
        if (data && typeof data == "object" && !Array.isArray(data)) {
          let missing0;
          if (data.unknown === void 0 && (missing0 = "unknown")) {
            let err4 = {};
            vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
          } else if (data.unknown !== void 0 && data.unknown !== !0) {
            let err5 = {};
            vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
          }
        } else {
          let err6 = {};
          vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
        }
      var _valid2 = _errs20 === errors;
      if (errors = _errs19, vErrors !== null && (_errs19 ? vErrors.length = _errs19 : vErrors = null), !_valid2) {
        let _errs23 = errors;
        if (errors === _errs23)
          if (data && typeof data == "object" && !Array.isArray(data)) {
            if (data.candidates !== void 0) {
              let data5 = data.candidates;
              if (errors === errors)
                if (Array.isArray(data5)) {
                  if (data5.length < 1)
                    return validate16.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/else/else/else/properties/candidates/minItems", keyword: "minItems", params: { limit: 1 } }], !1;
                } else
                  return validate16.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/else/else/else/properties/candidates/type", keyword: "type", params: { type: "array" } }], !1;
            }
          } else
            return validate16.errors = [{ instancePath, schemaPath: "#/else/else/else/type", keyword: "type", params: { type: "object" } }], !1;
        var _valid2 = _errs23 === errors;
        valid6 = _valid2;
      }
      if (!valid6) {
        let err7 = { instancePath, schemaPath: "#/else/else/if", keyword: "if", params: { failingKeyword: "else" } };
        return vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++, validate16.errors = vErrors, !1;
      }
      var _valid1 = _errs18 === errors;
      valid3 = _valid1, ifClause1 = "else";
    }
    if (!valid3) {
      let err8 = { instancePath, schemaPath: "#/else/if", keyword: "if", params: { failingKeyword: ifClause1 } };
      return vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++, validate16.errors = vErrors, !1;
    }
    var _valid0 = _errs9 === errors;
    valid0 = _valid0, ifClause0 = "else";
  }
  if (!valid0) {
    let err9 = { instancePath, schemaPath: "#/if", keyword: "if", params: { failingKeyword: ifClause0 } };
    return vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++, validate16.errors = vErrors, !1;
  }
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing1;
      if (data.status === void 0 && (missing1 = "status") || data.candidates === void 0 && (missing1 = "candidates") || data.at === void 0 && (missing1 = "at") || data.apply === void 0 && (missing1 = "apply") || data.origin === void 0 && (missing1 = "origin"))
        return validate16.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing1 } }], !1;
      if (data.status !== void 0) {
        let data6 = data.status, _errs27 = errors;
        if (typeof data6 != "string")
          return validate16.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/type", keyword: "type", params: { type: "string" } }], !1;
        if (!(data6 === "confirmed" || data6 === "in-doubt" || data6 === "unset"))
          return validate16.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/enum", keyword: "enum", params: { allowedValues: schema13.properties.status.enum } }], !1;
        var valid9 = _errs27 === errors;
      } else
        var valid9 = !0;
      if (valid9) {
        if (data.candidates !== void 0) {
          let _errs29 = errors;
          if (errors === _errs29 && !Array.isArray(data.candidates))
            return validate16.errors = [{ instancePath: instancePath + "/candidates", schemaPath: "#/properties/candidates/type", keyword: "type", params: { type: "array" } }], !1;
          var valid9 = _errs29 === errors;
        } else
          var valid9 = !0;
        if (valid9) {
          if (data.at !== void 0) {
            let data8 = data.at, _errs31 = errors;
            if (errors === errors)
              if (typeof data8 == "string") {
                if (!pattern0.test(data8))
                  return validate16.errors = [{ instancePath: instancePath + "/at", schemaPath: "#/$defs/time/pattern", keyword: "pattern", params: { pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$" } }], !1;
              } else
                return validate16.errors = [{ instancePath: instancePath + "/at", schemaPath: "#/$defs/time/type", keyword: "type", params: { type: "string" } }], !1;
            var valid9 = _errs31 === errors;
          } else
            var valid9 = !0;
          if (valid9) {
            if (data.apply !== void 0) {
              let _errs34 = errors;
              if (typeof data.apply != "string")
                return validate16.errors = [{ instancePath: instancePath + "/apply", schemaPath: "#/properties/apply/type", keyword: "type", params: { type: "string" } }], !1;
              var valid9 = _errs34 === errors;
            } else
              var valid9 = !0;
            if (valid9) {
              if (data.origin !== void 0) {
                let data10 = data.origin, _errs36 = errors;
                if (typeof data10 != "string")
                  return validate16.errors = [{ instancePath: instancePath + "/origin", schemaPath: "#/properties/origin/type", keyword: "type", params: { type: "string" } }], !1;
                if (!(data10 === "write" || data10 === "import"))
                  return validate16.errors = [{ instancePath: instancePath + "/origin", schemaPath: "#/properties/origin/enum", keyword: "enum", params: { allowedValues: schema13.properties.origin.enum } }], !1;
                var valid9 = _errs36 === errors;
              } else
                var valid9 = !0;
              if (valid9) {
                if (data.unknown !== void 0) {
                  let _errs38 = errors;
                  if (typeof data.unknown != "boolean")
                    return validate16.errors = [{ instancePath: instancePath + "/unknown", schemaPath: "#/properties/unknown/type", keyword: "type", params: { type: "boolean" } }], !1;
                  var valid9 = _errs38 === errors;
                } else
                  var valid9 = !0;
                if (valid9) {
                  if (data.open !== void 0) {
                    let _errs40 = errors;
                    if (data.open !== !0)
                      return validate16.errors = [{ instancePath: instancePath + "/open", schemaPath: "#/properties/open/const", keyword: "const", params: { allowedValue: !0 } }], !1;
                    var valid9 = _errs40 === errors;
                  } else
                    var valid9 = !0;
                  if (valid9)
                    if (data.templates !== void 0) {
                      let data13 = data.templates, _errs41 = errors;
                      if (errors === _errs41)
                        if (data13 && typeof data13 == "object" && !Array.isArray(data13))
                          for (let key0 in data13) {
                            let _errs44 = errors;
                            if (typeof data13[key0] != "string")
                              return validate16.errors = [{ instancePath: instancePath + "/templates/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/templates/additionalProperties/type", keyword: "type", params: { type: "string" } }], !1;
                            var valid11 = _errs44 === errors;
                            if (!valid11)
                              break;
                          }
                        else
                          return validate16.errors = [{ instancePath: instancePath + "/templates", schemaPath: "#/properties/templates/type", keyword: "type", params: { type: "object" } }], !1;
                      var valid9 = _errs41 === errors;
                    } else
                      var valid9 = !0;
                }
              }
            }
          }
        }
      }
    } else
      return validate16.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }], !1;
  return validate16.errors = vErrors, errors === 0;
}
var pattern4 = new RegExp("^[0-9]+$", "u");
function validate15(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.format === void 0 && (missing0 = "format") || data.before === void 0 && (missing0 = "before") || data.intents === void 0 && (missing0 = "intents"))
        return validate15.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }], !1;
      if (data.format !== void 0) {
        let _errs1 = errors;
        if (data.format !== "edgewise.wave/1")
          return validate15.errors = [{ instancePath: instancePath + "/format", schemaPath: "#/properties/format/const", keyword: "const", params: { allowedValue: "edgewise.wave/1" } }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.before !== void 0) {
          let data1 = data.before, _errs2 = errors;
          if (errors === _errs2)
            if (data1 && typeof data1 == "object" && !Array.isArray(data1))
              for (let key0 in data1) {
                let data2 = data1[key0], _errs5 = errors;
                if (errors === _errs5)
                  if (data2 && typeof data2 == "object" && !Array.isArray(data2))
                    for (let key1 in data2) {
                      let data3 = data2[key1], _errs8 = errors, _errs9 = errors, valid3 = !1, _errs10 = errors;
                      if (data3 !== null) {
                        let err0 = { instancePath: instancePath + "/before/" + key0.replace(/~/g, "~0").replace(/\//g, "~1") + "/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/before/additionalProperties/additionalProperties/anyOf/0/type", keyword: "type", params: { type: "null" } };
                        vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
                      }
                      var _valid0 = _errs10 === errors;
                      if (valid3 = valid3 || _valid0, !valid3) {
                        let _errs12 = errors;
                        validate16(data3, { instancePath: instancePath + "/before/" + key0.replace(/~/g, "~0").replace(/\//g, "~1") + "/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"), parentData: data2, parentDataProperty: key1, rootData }) || (vErrors = vErrors === null ? validate16.errors : vErrors.concat(validate16.errors), errors = vErrors.length);
                        var _valid0 = _errs12 === errors;
                        valid3 = valid3 || _valid0;
                      }
                      if (valid3)
                        errors = _errs9, vErrors !== null && (_errs9 ? vErrors.length = _errs9 : vErrors = null);
                      else {
                        let err1 = { instancePath: instancePath + "/before/" + key0.replace(/~/g, "~0").replace(/\//g, "~1") + "/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/before/additionalProperties/additionalProperties/anyOf", keyword: "anyOf", params: {} };
                        return vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++, validate15.errors = vErrors, !1;
                      }
                      var valid2 = _errs8 === errors;
                      if (!valid2)
                        break;
                    }
                  else
                    return validate15.errors = [{ instancePath: instancePath + "/before/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/before/additionalProperties/type", keyword: "type", params: { type: "object" } }], !1;
                var valid1 = _errs5 === errors;
                if (!valid1)
                  break;
              }
            else
              return validate15.errors = [{ instancePath: instancePath + "/before", schemaPath: "#/properties/before/type", keyword: "type", params: { type: "object" } }], !1;
          var valid0 = _errs2 === errors;
        } else
          var valid0 = !0;
        if (valid0)
          if (data.intents !== void 0) {
            let data4 = data.intents, _errs13 = errors;
            if (errors === _errs13)
              if (data4 && typeof data4 == "object" && !Array.isArray(data4)) {
                for (let key2 in data4) {
                  let _errs15 = errors;
                  if (typeof key2 == "string" && !pattern4.test(key2)) {
                    let err2 = { instancePath: instancePath + "/intents", schemaPath: "#/properties/intents/propertyNames/pattern", keyword: "pattern", params: { pattern: "^[0-9]+$" }, propertyName: key2 };
                    vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
                  }
                  var valid4 = _errs15 === errors;
                  if (!valid4) {
                    let err3 = { instancePath: instancePath + "/intents", schemaPath: "#/properties/intents/propertyNames", keyword: "propertyNames", params: { propertyName: key2 } };
                    return vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++, validate15.errors = vErrors, !1;
                    break;
                  }
                }
                if (valid4)
                  for (let key3 in data4) {
                    let data5 = data4[key3], _errs17 = errors;
                    if (errors === _errs17)
                      if (data5 && typeof data5 == "object" && !Array.isArray(data5))
                        for (let key4 in data5) {
                          let data6 = data5[key4], _errs20 = errors;
                          if (errors === _errs20)
                            if (data6 && typeof data6 == "object" && !Array.isArray(data6))
                              for (let key5 in data6) {
                                let _errs23 = errors;
                                validate16(data6[key5], { instancePath: instancePath + "/intents/" + key3.replace(/~/g, "~0").replace(/\//g, "~1") + "/" + key4.replace(/~/g, "~0").replace(/\//g, "~1") + "/" + key5.replace(/~/g, "~0").replace(/\//g, "~1"), parentData: data6, parentDataProperty: key5, rootData }) || (vErrors = vErrors === null ? validate16.errors : vErrors.concat(validate16.errors), errors = vErrors.length);
                                var valid7 = _errs23 === errors;
                                if (!valid7)
                                  break;
                              }
                            else
                              return validate15.errors = [{ instancePath: instancePath + "/intents/" + key3.replace(/~/g, "~0").replace(/\//g, "~1") + "/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/intents/additionalProperties/additionalProperties/type", keyword: "type", params: { type: "object" } }], !1;
                          var valid6 = _errs20 === errors;
                          if (!valid6)
                            break;
                        }
                      else
                        return validate15.errors = [{ instancePath: instancePath + "/intents/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/intents/additionalProperties/type", keyword: "type", params: { type: "object" } }], !1;
                    var valid5 = _errs17 === errors;
                    if (!valid5)
                      break;
                  }
              } else
                return validate15.errors = [{ instancePath: instancePath + "/intents", schemaPath: "#/properties/intents/type", keyword: "type", params: { type: "object" } }], !1;
            var valid0 = _errs13 === errors;
          } else
            var valid0 = !0;
      }
    } else
      return validate15.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }], !1;
  return validate15.errors = vErrors, errors === 0;
}
var rolloutFileFits = validate19, schema21 = { $id: "https://edgewise.invalid/schemas/state/rollout.schema.json", type: "object", required: ["format", "id", "startedAt", "commit", "author", "state", "reason", "items", "asked", "held", "waves", "released", "applies"], properties: { format: { const: "edgewise.rollout/1" }, id: { type: "string", pattern: "^[A-Za-z0-9_-]+$" }, startedAt: { $ref: "shared.schema.json#/$defs/time" }, commit: { type: ["string", "null"] }, author: { type: ["string", "null"] }, state: { type: "string", enum: ["open", "stopped", "taking-back", "taken-back"] }, reason: { type: ["string", "null"] }, items: { type: "array", items: { type: "string" } }, asked: { type: "object", additionalProperties: { type: "string" } }, held: { $ref: "shared.schema.json#/$defs/domains" }, waves: { type: "array", items: { type: "object", required: ["domains", "applied", "passed"], properties: { domains: { $ref: "shared.schema.json#/$defs/domains" }, applied: { type: ["object", "null"], required: ["from", "to"], properties: { from: { $ref: "shared.schema.json#/$defs/time" }, to: { $ref: "shared.schema.json#/$defs/timeOrNull" } } }, passed: { type: "boolean" } } }, minItems: 1 }, released: { $ref: "shared.schema.json#/$defs/domains" }, applies: { type: "array", items: { type: "string" } } } };
var pattern5 = new RegExp("^[A-Za-z0-9_-]+$", "u");
function validate19(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.format === void 0 && (missing0 = "format") || data.id === void 0 && (missing0 = "id") || data.startedAt === void 0 && (missing0 = "startedAt") || data.commit === void 0 && (missing0 = "commit") || data.author === void 0 && (missing0 = "author") || data.state === void 0 && (missing0 = "state") || data.reason === void 0 && (missing0 = "reason") || data.items === void 0 && (missing0 = "items") || data.asked === void 0 && (missing0 = "asked") || data.held === void 0 && (missing0 = "held") || data.waves === void 0 && (missing0 = "waves") || data.released === void 0 && (missing0 = "released") || data.applies === void 0 && (missing0 = "applies"))
        return validate19.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }], !1;
      if (data.format !== void 0) {
        let _errs1 = errors;
        if (data.format !== "edgewise.rollout/1")
          return validate19.errors = [{ instancePath: instancePath + "/format", schemaPath: "#/properties/format/const", keyword: "const", params: { allowedValue: "edgewise.rollout/1" } }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.id !== void 0) {
          let data1 = data.id, _errs2 = errors;
          if (errors === _errs2)
            if (typeof data1 == "string") {
              if (!pattern5.test(data1))
                return validate19.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/pattern", keyword: "pattern", params: { pattern: "^[A-Za-z0-9_-]+$" } }], !1;
            } else
              return validate19.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }], !1;
          var valid0 = _errs2 === errors;
        } else
          var valid0 = !0;
        if (valid0) {
          if (data.startedAt !== void 0) {
            let data2 = data.startedAt, _errs4 = errors;
            if (errors === errors)
              if (typeof data2 == "string") {
                if (!pattern0.test(data2))
                  return validate19.errors = [{ instancePath: instancePath + "/startedAt", schemaPath: "shared.schema.json#/$defs/time/pattern", keyword: "pattern", params: { pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$" } }], !1;
              } else
                return validate19.errors = [{ instancePath: instancePath + "/startedAt", schemaPath: "shared.schema.json#/$defs/time/type", keyword: "type", params: { type: "string" } }], !1;
            var valid0 = _errs4 === errors;
          } else
            var valid0 = !0;
          if (valid0) {
            if (data.commit !== void 0) {
              let data3 = data.commit, _errs7 = errors;
              if (typeof data3 != "string" && data3 !== null)
                return validate19.errors = [{ instancePath: instancePath + "/commit", schemaPath: "#/properties/commit/type", keyword: "type", params: { type: schema21.properties.commit.type } }], !1;
              var valid0 = _errs7 === errors;
            } else
              var valid0 = !0;
            if (valid0) {
              if (data.author !== void 0) {
                let data4 = data.author, _errs9 = errors;
                if (typeof data4 != "string" && data4 !== null)
                  return validate19.errors = [{ instancePath: instancePath + "/author", schemaPath: "#/properties/author/type", keyword: "type", params: { type: schema21.properties.author.type } }], !1;
                var valid0 = _errs9 === errors;
              } else
                var valid0 = !0;
              if (valid0) {
                if (data.state !== void 0) {
                  let data5 = data.state, _errs11 = errors;
                  if (typeof data5 != "string")
                    return validate19.errors = [{ instancePath: instancePath + "/state", schemaPath: "#/properties/state/type", keyword: "type", params: { type: "string" } }], !1;
                  if (!(data5 === "open" || data5 === "stopped" || data5 === "taking-back" || data5 === "taken-back"))
                    return validate19.errors = [{ instancePath: instancePath + "/state", schemaPath: "#/properties/state/enum", keyword: "enum", params: { allowedValues: schema21.properties.state.enum } }], !1;
                  var valid0 = _errs11 === errors;
                } else
                  var valid0 = !0;
                if (valid0) {
                  if (data.reason !== void 0) {
                    let data6 = data.reason, _errs13 = errors;
                    if (typeof data6 != "string" && data6 !== null)
                      return validate19.errors = [{ instancePath: instancePath + "/reason", schemaPath: "#/properties/reason/type", keyword: "type", params: { type: schema21.properties.reason.type } }], !1;
                    var valid0 = _errs13 === errors;
                  } else
                    var valid0 = !0;
                  if (valid0) {
                    if (data.items !== void 0) {
                      let data7 = data.items, _errs15 = errors;
                      if (errors === _errs15)
                        if (Array.isArray(data7)) {
                          var valid2 = !0;
                          let len0 = data7.length;
                          for (let i0 = 0; i0 < len0; i0++) {
                            let _errs17 = errors;
                            if (typeof data7[i0] != "string")
                              return validate19.errors = [{ instancePath: instancePath + "/items/" + i0, schemaPath: "#/properties/items/items/type", keyword: "type", params: { type: "string" } }], !1;
                            var valid2 = _errs17 === errors;
                            if (!valid2)
                              break;
                          }
                        } else
                          return validate19.errors = [{ instancePath: instancePath + "/items", schemaPath: "#/properties/items/type", keyword: "type", params: { type: "array" } }], !1;
                      var valid0 = _errs15 === errors;
                    } else
                      var valid0 = !0;
                    if (valid0) {
                      if (data.asked !== void 0) {
                        let data9 = data.asked, _errs19 = errors;
                        if (errors === _errs19)
                          if (data9 && typeof data9 == "object" && !Array.isArray(data9))
                            for (let key0 in data9) {
                              let _errs22 = errors;
                              if (typeof data9[key0] != "string")
                                return validate19.errors = [{ instancePath: instancePath + "/asked/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/asked/additionalProperties/type", keyword: "type", params: { type: "string" } }], !1;
                              var valid3 = _errs22 === errors;
                              if (!valid3)
                                break;
                            }
                          else
                            return validate19.errors = [{ instancePath: instancePath + "/asked", schemaPath: "#/properties/asked/type", keyword: "type", params: { type: "object" } }], !1;
                        var valid0 = _errs19 === errors;
                      } else
                        var valid0 = !0;
                      if (valid0) {
                        if (data.held !== void 0) {
                          let data11 = data.held, _errs24 = errors;
                          if (errors === errors)
                            if (Array.isArray(data11)) {
                              var valid5 = !0;
                              let len1 = data11.length;
                              for (let i1 = 0; i1 < len1; i1++) {
                                let _errs27 = errors;
                                if (typeof data11[i1] != "string")
                                  return validate19.errors = [{ instancePath: instancePath + "/held/" + i1, schemaPath: "shared.schema.json#/$defs/domains/items/type", keyword: "type", params: { type: "string" } }], !1;
                                var valid5 = _errs27 === errors;
                                if (!valid5)
                                  break;
                              }
                            } else
                              return validate19.errors = [{ instancePath: instancePath + "/held", schemaPath: "shared.schema.json#/$defs/domains/type", keyword: "type", params: { type: "array" } }], !1;
                          var valid0 = _errs24 === errors;
                        } else
                          var valid0 = !0;
                        if (valid0) {
                          if (data.waves !== void 0) {
                            let data13 = data.waves, _errs29 = errors;
                            if (errors === _errs29)
                              if (Array.isArray(data13)) {
                                if (data13.length < 1)
                                  return validate19.errors = [{ instancePath: instancePath + "/waves", schemaPath: "#/properties/waves/minItems", keyword: "minItems", params: { limit: 1 } }], !1;
                                {
                                  var valid6 = !0;
                                  let len2 = data13.length;
                                  for (let i2 = 0; i2 < len2; i2++) {
                                    let data14 = data13[i2], _errs31 = errors;
                                    if (errors === _errs31)
                                      if (data14 && typeof data14 == "object" && !Array.isArray(data14)) {
                                        let missing1;
                                        if (data14.domains === void 0 && (missing1 = "domains") || data14.applied === void 0 && (missing1 = "applied") || data14.passed === void 0 && (missing1 = "passed"))
                                          return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2, schemaPath: "#/properties/waves/items/required", keyword: "required", params: { missingProperty: missing1 } }], !1;
                                        if (data14.domains !== void 0) {
                                          let data15 = data14.domains, _errs33 = errors;
                                          if (errors === errors)
                                            if (Array.isArray(data15)) {
                                              var valid9 = !0;
                                              let len3 = data15.length;
                                              for (let i3 = 0; i3 < len3; i3++) {
                                                let _errs36 = errors;
                                                if (typeof data15[i3] != "string")
                                                  return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2 + "/domains/" + i3, schemaPath: "shared.schema.json#/$defs/domains/items/type", keyword: "type", params: { type: "string" } }], !1;
                                                var valid9 = _errs36 === errors;
                                                if (!valid9)
                                                  break;
                                              }
                                            } else
                                              return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2 + "/domains", schemaPath: "shared.schema.json#/$defs/domains/type", keyword: "type", params: { type: "array" } }], !1;
                                          var valid7 = _errs33 === errors;
                                        } else
                                          var valid7 = !0;
                                        if (valid7) {
                                          if (data14.applied !== void 0) {
                                            let data17 = data14.applied, _errs38 = errors;
                                            if (!(data17 && typeof data17 == "object" && !Array.isArray(data17)) && data17 !== null)
                                              return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2 + "/applied", schemaPath: "#/properties/waves/items/properties/applied/type", keyword: "type", params: { type: schema21.properties.waves.items.properties.applied.type } }], !1;
                                            if (errors === _errs38 && data17 && typeof data17 == "object" && !Array.isArray(data17)) {
                                              let missing2;
                                              if (data17.from === void 0 && (missing2 = "from") || data17.to === void 0 && (missing2 = "to"))
                                                return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2 + "/applied", schemaPath: "#/properties/waves/items/properties/applied/required", keyword: "required", params: { missingProperty: missing2 } }], !1;
                                              if (data17.from !== void 0) {
                                                let data18 = data17.from, _errs40 = errors;
                                                if (errors === errors)
                                                  if (typeof data18 == "string") {
                                                    if (!pattern0.test(data18))
                                                      return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2 + "/applied/from", schemaPath: "shared.schema.json#/$defs/time/pattern", keyword: "pattern", params: { pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$" } }], !1;
                                                  } else
                                                    return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2 + "/applied/from", schemaPath: "shared.schema.json#/$defs/time/type", keyword: "type", params: { type: "string" } }], !1;
                                                var valid10 = _errs40 === errors;
                                              } else
                                                var valid10 = !0;
                                              if (valid10)
                                                if (data17.to !== void 0) {
                                                  let data19 = data17.to, _errs43 = errors, _errs44 = errors;
                                                  if (typeof data19 != "string" && data19 !== null)
                                                    return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2 + "/applied/to", schemaPath: "shared.schema.json#/$defs/timeOrNull/type", keyword: "type", params: { type: schema17.type } }], !1;
                                                  if (errors === _errs44 && typeof data19 == "string" && !pattern0.test(data19))
                                                    return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2 + "/applied/to", schemaPath: "shared.schema.json#/$defs/timeOrNull/pattern", keyword: "pattern", params: { pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$" } }], !1;
                                                  var valid10 = _errs43 === errors;
                                                } else
                                                  var valid10 = !0;
                                            }
                                            var valid7 = _errs38 === errors;
                                          } else
                                            var valid7 = !0;
                                          if (valid7)
                                            if (data14.passed !== void 0) {
                                              let _errs46 = errors;
                                              if (typeof data14.passed != "boolean")
                                                return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2 + "/passed", schemaPath: "#/properties/waves/items/properties/passed/type", keyword: "type", params: { type: "boolean" } }], !1;
                                              var valid7 = _errs46 === errors;
                                            } else
                                              var valid7 = !0;
                                        }
                                      } else
                                        return validate19.errors = [{ instancePath: instancePath + "/waves/" + i2, schemaPath: "#/properties/waves/items/type", keyword: "type", params: { type: "object" } }], !1;
                                    var valid6 = _errs31 === errors;
                                    if (!valid6)
                                      break;
                                  }
                                }
                              } else
                                return validate19.errors = [{ instancePath: instancePath + "/waves", schemaPath: "#/properties/waves/type", keyword: "type", params: { type: "array" } }], !1;
                            var valid0 = _errs29 === errors;
                          } else
                            var valid0 = !0;
                          if (valid0) {
                            if (data.released !== void 0) {
                              let data21 = data.released, _errs48 = errors;
                              if (errors === errors)
                                if (Array.isArray(data21)) {
                                  var valid14 = !0;
                                  let len4 = data21.length;
                                  for (let i4 = 0; i4 < len4; i4++) {
                                    let _errs51 = errors;
                                    if (typeof data21[i4] != "string")
                                      return validate19.errors = [{ instancePath: instancePath + "/released/" + i4, schemaPath: "shared.schema.json#/$defs/domains/items/type", keyword: "type", params: { type: "string" } }], !1;
                                    var valid14 = _errs51 === errors;
                                    if (!valid14)
                                      break;
                                  }
                                } else
                                  return validate19.errors = [{ instancePath: instancePath + "/released", schemaPath: "shared.schema.json#/$defs/domains/type", keyword: "type", params: { type: "array" } }], !1;
                              var valid0 = _errs48 === errors;
                            } else
                              var valid0 = !0;
                            if (valid0)
                              if (data.applies !== void 0) {
                                let data23 = data.applies, _errs53 = errors;
                                if (errors === _errs53)
                                  if (Array.isArray(data23)) {
                                    var valid15 = !0;
                                    let len5 = data23.length;
                                    for (let i5 = 0; i5 < len5; i5++) {
                                      let _errs55 = errors;
                                      if (typeof data23[i5] != "string")
                                        return validate19.errors = [{ instancePath: instancePath + "/applies/" + i5, schemaPath: "#/properties/applies/items/type", keyword: "type", params: { type: "string" } }], !1;
                                      var valid15 = _errs55 === errors;
                                      if (!valid15)
                                        break;
                                    }
                                  } else
                                    return validate19.errors = [{ instancePath: instancePath + "/applies", schemaPath: "#/properties/applies/type", keyword: "type", params: { type: "array" } }], !1;
                                var valid0 = _errs53 === errors;
                              } else
                                var valid0 = !0;
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else
      return validate19.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }], !1;
  return validate19.errors = vErrors, errors === 0;
}
var planFileFits = validate20, schema28 = { $id: "https://edgewise.invalid/schemas/state/plan.schema.json", type: "object", required: ["format", "changes", "writes", "basis", "planner"], properties: { format: { const: "edgewise.plan/1" }, changes: { type: "array", items: { type: "object", required: ["domain", "item", "action", "reason", "before", "after", "patch"], properties: { domain: { type: "string" }, item: { type: "string" }, action: { type: "string", enum: ["set", "change", "unset", "release"] }, reason: { type: "string", enum: ["differs", "in-doubt", "cleared"] }, by: { type: "string" }, before: !0, after: !0, patch: { type: "array", items: { type: "object", required: ["op", "path"], properties: { op: { type: "string", enum: ["add", "remove", "replace"] }, path: { type: "string" }, value: !0 } } } } } }, writes: { type: "array", items: { type: "object", required: ["id", "wave", "domains", "config", "forms"], properties: { id: { type: "integer", minimum: 1 }, wave: { type: "integer", minimum: 1 }, domains: { type: "array", items: { type: "string" }, minItems: 1 }, config: { type: "object", additionalProperties: !0 }, forms: { type: "object", additionalProperties: { type: "string", enum: ["replace", "append", "add", "remove", "switch", "unset"] } } } } }, basis: { type: "object", required: ["desired", "recorded"], properties: { desired: { type: "object", additionalProperties: { type: "string", pattern: "^sha256:[0-9a-f]{64}$" } }, recorded: { type: "object", additionalProperties: { type: "string", pattern: "^sha256:[0-9a-f]{64}$" } }, target: { type: "array", items: { type: "string" } }, items: { type: "array", items: { type: "string" } }, commit: { type: ["string", "null"] } } }, planner: { type: "object", required: ["version", "effort"], properties: { version: { type: "integer", minimum: 1 }, effort: { type: "string", enum: ["quick", "normal", "thorough"] } } }, summary: { type: "object" }, warnings: { type: "array", items: { type: "string" } }, explanation: { type: "object" } } }, pattern9 = new RegExp("^sha256:[0-9a-f]{64}$", "u");
function validate20(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.format === void 0 && (missing0 = "format") || data.changes === void 0 && (missing0 = "changes") || data.writes === void 0 && (missing0 = "writes") || data.basis === void 0 && (missing0 = "basis") || data.planner === void 0 && (missing0 = "planner"))
        return validate20.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }], !1;
      if (data.format !== void 0) {
        let _errs1 = errors;
        if (data.format !== "edgewise.plan/1")
          return validate20.errors = [{ instancePath: instancePath + "/format", schemaPath: "#/properties/format/const", keyword: "const", params: { allowedValue: "edgewise.plan/1" } }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.changes !== void 0) {
          let data1 = data.changes, _errs2 = errors;
          if (errors === _errs2)
            if (Array.isArray(data1)) {
              var valid1 = !0;
              let len0 = data1.length;
              for (let i0 = 0; i0 < len0; i0++) {
                let data2 = data1[i0], _errs4 = errors;
                if (errors === _errs4)
                  if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
                    let missing1;
                    if (data2.domain === void 0 && (missing1 = "domain") || data2.item === void 0 && (missing1 = "item") || data2.action === void 0 && (missing1 = "action") || data2.reason === void 0 && (missing1 = "reason") || data2.before === void 0 && (missing1 = "before") || data2.after === void 0 && (missing1 = "after") || data2.patch === void 0 && (missing1 = "patch"))
                      return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0, schemaPath: "#/properties/changes/items/required", keyword: "required", params: { missingProperty: missing1 } }], !1;
                    if (data2.domain !== void 0) {
                      let _errs6 = errors;
                      if (typeof data2.domain != "string")
                        return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/domain", schemaPath: "#/properties/changes/items/properties/domain/type", keyword: "type", params: { type: "string" } }], !1;
                      var valid2 = _errs6 === errors;
                    } else
                      var valid2 = !0;
                    if (valid2) {
                      if (data2.item !== void 0) {
                        let _errs8 = errors;
                        if (typeof data2.item != "string")
                          return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/item", schemaPath: "#/properties/changes/items/properties/item/type", keyword: "type", params: { type: "string" } }], !1;
                        var valid2 = _errs8 === errors;
                      } else
                        var valid2 = !0;
                      if (valid2) {
                        if (data2.action !== void 0) {
                          let data5 = data2.action, _errs10 = errors;
                          if (typeof data5 != "string")
                            return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/action", schemaPath: "#/properties/changes/items/properties/action/type", keyword: "type", params: { type: "string" } }], !1;
                          if (!(data5 === "set" || data5 === "change" || data5 === "unset" || data5 === "release"))
                            return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/action", schemaPath: "#/properties/changes/items/properties/action/enum", keyword: "enum", params: { allowedValues: schema28.properties.changes.items.properties.action.enum } }], !1;
                          var valid2 = _errs10 === errors;
                        } else
                          var valid2 = !0;
                        if (valid2) {
                          if (data2.reason !== void 0) {
                            let data6 = data2.reason, _errs12 = errors;
                            if (typeof data6 != "string")
                              return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/reason", schemaPath: "#/properties/changes/items/properties/reason/type", keyword: "type", params: { type: "string" } }], !1;
                            if (!(data6 === "differs" || data6 === "in-doubt" || data6 === "cleared"))
                              return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/reason", schemaPath: "#/properties/changes/items/properties/reason/enum", keyword: "enum", params: { allowedValues: schema28.properties.changes.items.properties.reason.enum } }], !1;
                            var valid2 = _errs12 === errors;
                          } else
                            var valid2 = !0;
                          if (valid2) {
                            if (data2.by !== void 0) {
                              let _errs14 = errors;
                              if (typeof data2.by != "string")
                                return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/by", schemaPath: "#/properties/changes/items/properties/by/type", keyword: "type", params: { type: "string" } }], !1;
                              var valid2 = _errs14 === errors;
                            } else
                              var valid2 = !0;
                            if (valid2)
                              if (data2.patch !== void 0) {
                                let data8 = data2.patch, _errs16 = errors;
                                if (errors === _errs16)
                                  if (Array.isArray(data8)) {
                                    var valid3 = !0;
                                    let len1 = data8.length;
                                    for (let i1 = 0; i1 < len1; i1++) {
                                      let data9 = data8[i1], _errs18 = errors;
                                      if (errors === _errs18)
                                        if (data9 && typeof data9 == "object" && !Array.isArray(data9)) {
                                          let missing2;
                                          if (data9.op === void 0 && (missing2 = "op") || data9.path === void 0 && (missing2 = "path"))
                                            return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/patch/" + i1, schemaPath: "#/properties/changes/items/properties/patch/items/required", keyword: "required", params: { missingProperty: missing2 } }], !1;
                                          if (data9.op !== void 0) {
                                            let data10 = data9.op, _errs20 = errors;
                                            if (typeof data10 != "string")
                                              return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/patch/" + i1 + "/op", schemaPath: "#/properties/changes/items/properties/patch/items/properties/op/type", keyword: "type", params: { type: "string" } }], !1;
                                            if (!(data10 === "add" || data10 === "remove" || data10 === "replace"))
                                              return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/patch/" + i1 + "/op", schemaPath: "#/properties/changes/items/properties/patch/items/properties/op/enum", keyword: "enum", params: { allowedValues: schema28.properties.changes.items.properties.patch.items.properties.op.enum } }], !1;
                                            var valid4 = _errs20 === errors;
                                          } else
                                            var valid4 = !0;
                                          if (valid4)
                                            if (data9.path !== void 0) {
                                              let _errs22 = errors;
                                              if (typeof data9.path != "string")
                                                return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/patch/" + i1 + "/path", schemaPath: "#/properties/changes/items/properties/patch/items/properties/path/type", keyword: "type", params: { type: "string" } }], !1;
                                              var valid4 = _errs22 === errors;
                                            } else
                                              var valid4 = !0;
                                        } else
                                          return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/patch/" + i1, schemaPath: "#/properties/changes/items/properties/patch/items/type", keyword: "type", params: { type: "object" } }], !1;
                                      var valid3 = _errs18 === errors;
                                      if (!valid3)
                                        break;
                                    }
                                  } else
                                    return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0 + "/patch", schemaPath: "#/properties/changes/items/properties/patch/type", keyword: "type", params: { type: "array" } }], !1;
                                var valid2 = _errs16 === errors;
                              } else
                                var valid2 = !0;
                          }
                        }
                      }
                    }
                  } else
                    return validate20.errors = [{ instancePath: instancePath + "/changes/" + i0, schemaPath: "#/properties/changes/items/type", keyword: "type", params: { type: "object" } }], !1;
                var valid1 = _errs4 === errors;
                if (!valid1)
                  break;
              }
            } else
              return validate20.errors = [{ instancePath: instancePath + "/changes", schemaPath: "#/properties/changes/type", keyword: "type", params: { type: "array" } }], !1;
          var valid0 = _errs2 === errors;
        } else
          var valid0 = !0;
        if (valid0) {
          if (data.writes !== void 0) {
            let data12 = data.writes, _errs24 = errors;
            if (errors === _errs24)
              if (Array.isArray(data12)) {
                var valid5 = !0;
                let len2 = data12.length;
                for (let i2 = 0; i2 < len2; i2++) {
                  let data13 = data12[i2], _errs26 = errors;
                  if (errors === _errs26)
                    if (data13 && typeof data13 == "object" && !Array.isArray(data13)) {
                      let missing3;
                      if (data13.id === void 0 && (missing3 = "id") || data13.wave === void 0 && (missing3 = "wave") || data13.domains === void 0 && (missing3 = "domains") || data13.config === void 0 && (missing3 = "config") || data13.forms === void 0 && (missing3 = "forms"))
                        return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2, schemaPath: "#/properties/writes/items/required", keyword: "required", params: { missingProperty: missing3 } }], !1;
                      if (data13.id !== void 0) {
                        let data14 = data13.id, _errs28 = errors;
                        if (!(typeof data14 == "number" && !(data14 % 1) && !isNaN(data14) && isFinite(data14)))
                          return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/id", schemaPath: "#/properties/writes/items/properties/id/type", keyword: "type", params: { type: "integer" } }], !1;
                        if (errors === _errs28 && typeof data14 == "number" && isFinite(data14) && (data14 < 1 || isNaN(data14)))
                          return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/id", schemaPath: "#/properties/writes/items/properties/id/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }], !1;
                        var valid6 = _errs28 === errors;
                      } else
                        var valid6 = !0;
                      if (valid6) {
                        if (data13.wave !== void 0) {
                          let data15 = data13.wave, _errs30 = errors;
                          if (!(typeof data15 == "number" && !(data15 % 1) && !isNaN(data15) && isFinite(data15)))
                            return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/wave", schemaPath: "#/properties/writes/items/properties/wave/type", keyword: "type", params: { type: "integer" } }], !1;
                          if (errors === _errs30 && typeof data15 == "number" && isFinite(data15) && (data15 < 1 || isNaN(data15)))
                            return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/wave", schemaPath: "#/properties/writes/items/properties/wave/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }], !1;
                          var valid6 = _errs30 === errors;
                        } else
                          var valid6 = !0;
                        if (valid6) {
                          if (data13.domains !== void 0) {
                            let data16 = data13.domains, _errs32 = errors;
                            if (errors === _errs32)
                              if (Array.isArray(data16)) {
                                if (data16.length < 1)
                                  return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/domains", schemaPath: "#/properties/writes/items/properties/domains/minItems", keyword: "minItems", params: { limit: 1 } }], !1;
                                {
                                  var valid7 = !0;
                                  let len3 = data16.length;
                                  for (let i3 = 0; i3 < len3; i3++) {
                                    let _errs34 = errors;
                                    if (typeof data16[i3] != "string")
                                      return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/domains/" + i3, schemaPath: "#/properties/writes/items/properties/domains/items/type", keyword: "type", params: { type: "string" } }], !1;
                                    var valid7 = _errs34 === errors;
                                    if (!valid7)
                                      break;
                                  }
                                }
                              } else
                                return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/domains", schemaPath: "#/properties/writes/items/properties/domains/type", keyword: "type", params: { type: "array" } }], !1;
                            var valid6 = _errs32 === errors;
                          } else
                            var valid6 = !0;
                          if (valid6) {
                            if (data13.config !== void 0) {
                              let data18 = data13.config, _errs36 = errors;
                              if (errors === _errs36 && !(data18 && typeof data18 == "object" && !Array.isArray(data18)))
                                return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/config", schemaPath: "#/properties/writes/items/properties/config/type", keyword: "type", params: { type: "object" } }], !1;
                              var valid6 = _errs36 === errors;
                            } else
                              var valid6 = !0;
                            if (valid6)
                              if (data13.forms !== void 0) {
                                let data19 = data13.forms, _errs39 = errors;
                                if (errors === _errs39)
                                  if (data19 && typeof data19 == "object" && !Array.isArray(data19))
                                    for (let key0 in data19) {
                                      let data20 = data19[key0], _errs42 = errors;
                                      if (typeof data20 != "string")
                                        return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/forms/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/writes/items/properties/forms/additionalProperties/type", keyword: "type", params: { type: "string" } }], !1;
                                      if (!(data20 === "replace" || data20 === "append" || data20 === "add" || data20 === "remove" || data20 === "switch" || data20 === "unset"))
                                        return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/forms/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/writes/items/properties/forms/additionalProperties/enum", keyword: "enum", params: { allowedValues: schema28.properties.writes.items.properties.forms.additionalProperties.enum } }], !1;
                                      var valid8 = _errs42 === errors;
                                      if (!valid8)
                                        break;
                                    }
                                  else
                                    return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2 + "/forms", schemaPath: "#/properties/writes/items/properties/forms/type", keyword: "type", params: { type: "object" } }], !1;
                                var valid6 = _errs39 === errors;
                              } else
                                var valid6 = !0;
                          }
                        }
                      }
                    } else
                      return validate20.errors = [{ instancePath: instancePath + "/writes/" + i2, schemaPath: "#/properties/writes/items/type", keyword: "type", params: { type: "object" } }], !1;
                  var valid5 = _errs26 === errors;
                  if (!valid5)
                    break;
                }
              } else
                return validate20.errors = [{ instancePath: instancePath + "/writes", schemaPath: "#/properties/writes/type", keyword: "type", params: { type: "array" } }], !1;
            var valid0 = _errs24 === errors;
          } else
            var valid0 = !0;
          if (valid0) {
            if (data.basis !== void 0) {
              let data21 = data.basis, _errs44 = errors;
              if (errors === _errs44)
                if (data21 && typeof data21 == "object" && !Array.isArray(data21)) {
                  let missing4;
                  if (data21.desired === void 0 && (missing4 = "desired") || data21.recorded === void 0 && (missing4 = "recorded"))
                    return validate20.errors = [{ instancePath: instancePath + "/basis", schemaPath: "#/properties/basis/required", keyword: "required", params: { missingProperty: missing4 } }], !1;
                  if (data21.desired !== void 0) {
                    let data22 = data21.desired, _errs46 = errors;
                    if (errors === _errs46)
                      if (data22 && typeof data22 == "object" && !Array.isArray(data22))
                        for (let key1 in data22) {
                          let data23 = data22[key1], _errs49 = errors;
                          if (errors === _errs49)
                            if (typeof data23 == "string") {
                              if (!pattern9.test(data23))
                                return validate20.errors = [{ instancePath: instancePath + "/basis/desired/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/basis/properties/desired/additionalProperties/pattern", keyword: "pattern", params: { pattern: "^sha256:[0-9a-f]{64}$" } }], !1;
                            } else
                              return validate20.errors = [{ instancePath: instancePath + "/basis/desired/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/basis/properties/desired/additionalProperties/type", keyword: "type", params: { type: "string" } }], !1;
                          var valid10 = _errs49 === errors;
                          if (!valid10)
                            break;
                        }
                      else
                        return validate20.errors = [{ instancePath: instancePath + "/basis/desired", schemaPath: "#/properties/basis/properties/desired/type", keyword: "type", params: { type: "object" } }], !1;
                    var valid9 = _errs46 === errors;
                  } else
                    var valid9 = !0;
                  if (valid9) {
                    if (data21.recorded !== void 0) {
                      let data24 = data21.recorded, _errs51 = errors;
                      if (errors === _errs51)
                        if (data24 && typeof data24 == "object" && !Array.isArray(data24))
                          for (let key2 in data24) {
                            let data25 = data24[key2], _errs54 = errors;
                            if (errors === _errs54)
                              if (typeof data25 == "string") {
                                if (!pattern9.test(data25))
                                  return validate20.errors = [{ instancePath: instancePath + "/basis/recorded/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/basis/properties/recorded/additionalProperties/pattern", keyword: "pattern", params: { pattern: "^sha256:[0-9a-f]{64}$" } }], !1;
                              } else
                                return validate20.errors = [{ instancePath: instancePath + "/basis/recorded/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/basis/properties/recorded/additionalProperties/type", keyword: "type", params: { type: "string" } }], !1;
                            var valid11 = _errs54 === errors;
                            if (!valid11)
                              break;
                          }
                        else
                          return validate20.errors = [{ instancePath: instancePath + "/basis/recorded", schemaPath: "#/properties/basis/properties/recorded/type", keyword: "type", params: { type: "object" } }], !1;
                      var valid9 = _errs51 === errors;
                    } else
                      var valid9 = !0;
                    if (valid9) {
                      if (data21.target !== void 0) {
                        let data26 = data21.target, _errs56 = errors;
                        if (errors === _errs56)
                          if (Array.isArray(data26)) {
                            var valid12 = !0;
                            let len4 = data26.length;
                            for (let i4 = 0; i4 < len4; i4++) {
                              let _errs58 = errors;
                              if (typeof data26[i4] != "string")
                                return validate20.errors = [{ instancePath: instancePath + "/basis/target/" + i4, schemaPath: "#/properties/basis/properties/target/items/type", keyword: "type", params: { type: "string" } }], !1;
                              var valid12 = _errs58 === errors;
                              if (!valid12)
                                break;
                            }
                          } else
                            return validate20.errors = [{ instancePath: instancePath + "/basis/target", schemaPath: "#/properties/basis/properties/target/type", keyword: "type", params: { type: "array" } }], !1;
                        var valid9 = _errs56 === errors;
                      } else
                        var valid9 = !0;
                      if (valid9) {
                        if (data21.items !== void 0) {
                          let data28 = data21.items, _errs60 = errors;
                          if (errors === _errs60)
                            if (Array.isArray(data28)) {
                              var valid13 = !0;
                              let len5 = data28.length;
                              for (let i5 = 0; i5 < len5; i5++) {
                                let _errs62 = errors;
                                if (typeof data28[i5] != "string")
                                  return validate20.errors = [{ instancePath: instancePath + "/basis/items/" + i5, schemaPath: "#/properties/basis/properties/items/items/type", keyword: "type", params: { type: "string" } }], !1;
                                var valid13 = _errs62 === errors;
                                if (!valid13)
                                  break;
                              }
                            } else
                              return validate20.errors = [{ instancePath: instancePath + "/basis/items", schemaPath: "#/properties/basis/properties/items/type", keyword: "type", params: { type: "array" } }], !1;
                          var valid9 = _errs60 === errors;
                        } else
                          var valid9 = !0;
                        if (valid9)
                          if (data21.commit !== void 0) {
                            let data30 = data21.commit, _errs64 = errors;
                            if (typeof data30 != "string" && data30 !== null)
                              return validate20.errors = [{ instancePath: instancePath + "/basis/commit", schemaPath: "#/properties/basis/properties/commit/type", keyword: "type", params: { type: schema28.properties.basis.properties.commit.type } }], !1;
                            var valid9 = _errs64 === errors;
                          } else
                            var valid9 = !0;
                      }
                    }
                  }
                } else
                  return validate20.errors = [{ instancePath: instancePath + "/basis", schemaPath: "#/properties/basis/type", keyword: "type", params: { type: "object" } }], !1;
              var valid0 = _errs44 === errors;
            } else
              var valid0 = !0;
            if (valid0) {
              if (data.planner !== void 0) {
                let data31 = data.planner, _errs66 = errors;
                if (errors === _errs66)
                  if (data31 && typeof data31 == "object" && !Array.isArray(data31)) {
                    let missing5;
                    if (data31.version === void 0 && (missing5 = "version") || data31.effort === void 0 && (missing5 = "effort"))
                      return validate20.errors = [{ instancePath: instancePath + "/planner", schemaPath: "#/properties/planner/required", keyword: "required", params: { missingProperty: missing5 } }], !1;
                    if (data31.version !== void 0) {
                      let data32 = data31.version, _errs68 = errors;
                      if (!(typeof data32 == "number" && !(data32 % 1) && !isNaN(data32) && isFinite(data32)))
                        return validate20.errors = [{ instancePath: instancePath + "/planner/version", schemaPath: "#/properties/planner/properties/version/type", keyword: "type", params: { type: "integer" } }], !1;
                      if (errors === _errs68 && typeof data32 == "number" && isFinite(data32) && (data32 < 1 || isNaN(data32)))
                        return validate20.errors = [{ instancePath: instancePath + "/planner/version", schemaPath: "#/properties/planner/properties/version/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }], !1;
                      var valid14 = _errs68 === errors;
                    } else
                      var valid14 = !0;
                    if (valid14)
                      if (data31.effort !== void 0) {
                        let data33 = data31.effort, _errs70 = errors;
                        if (typeof data33 != "string")
                          return validate20.errors = [{ instancePath: instancePath + "/planner/effort", schemaPath: "#/properties/planner/properties/effort/type", keyword: "type", params: { type: "string" } }], !1;
                        if (!(data33 === "quick" || data33 === "normal" || data33 === "thorough"))
                          return validate20.errors = [{ instancePath: instancePath + "/planner/effort", schemaPath: "#/properties/planner/properties/effort/enum", keyword: "enum", params: { allowedValues: schema28.properties.planner.properties.effort.enum } }], !1;
                        var valid14 = _errs70 === errors;
                      } else
                        var valid14 = !0;
                  } else
                    return validate20.errors = [{ instancePath: instancePath + "/planner", schemaPath: "#/properties/planner/type", keyword: "type", params: { type: "object" } }], !1;
                var valid0 = _errs66 === errors;
              } else
                var valid0 = !0;
              if (valid0) {
                if (data.summary !== void 0) {
                  let data34 = data.summary, _errs72 = errors;
                  if (!(data34 && typeof data34 == "object" && !Array.isArray(data34)))
                    return validate20.errors = [{ instancePath: instancePath + "/summary", schemaPath: "#/properties/summary/type", keyword: "type", params: { type: "object" } }], !1;
                  var valid0 = _errs72 === errors;
                } else
                  var valid0 = !0;
                if (valid0) {
                  if (data.warnings !== void 0) {
                    let data35 = data.warnings, _errs74 = errors;
                    if (errors === _errs74)
                      if (Array.isArray(data35)) {
                        var valid15 = !0;
                        let len6 = data35.length;
                        for (let i6 = 0; i6 < len6; i6++) {
                          let _errs76 = errors;
                          if (typeof data35[i6] != "string")
                            return validate20.errors = [{ instancePath: instancePath + "/warnings/" + i6, schemaPath: "#/properties/warnings/items/type", keyword: "type", params: { type: "string" } }], !1;
                          var valid15 = _errs76 === errors;
                          if (!valid15)
                            break;
                        }
                      } else
                        return validate20.errors = [{ instancePath: instancePath + "/warnings", schemaPath: "#/properties/warnings/type", keyword: "type", params: { type: "array" } }], !1;
                    var valid0 = _errs74 === errors;
                  } else
                    var valid0 = !0;
                  if (valid0)
                    if (data.explanation !== void 0) {
                      let data37 = data.explanation, _errs78 = errors;
                      if (!(data37 && typeof data37 == "object" && !Array.isArray(data37)))
                        return validate20.errors = [{ instancePath: instancePath + "/explanation", schemaPath: "#/properties/explanation/type", keyword: "type", params: { type: "object" } }], !1;
                      var valid0 = _errs78 === errors;
                    } else
                      var valid0 = !0;
                }
              }
            }
          }
        }
      }
    } else
      return validate20.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }], !1;
  return validate20.errors = vErrors, errors === 0;
}
var isAddressFileFits = validate21;
function validate21(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.id === void 0 && (missing0 = "id") || data.address === void 0 && (missing0 = "address"))
        return validate21.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }], !1;
      if (data.id !== void 0) {
        let _errs1 = errors;
        if (typeof data.id != "string")
          return validate21.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0)
        if (data.address !== void 0) {
          let _errs3 = errors;
          if (typeof data.address != "string")
            return validate21.errors = [{ instancePath: instancePath + "/address", schemaPath: "#/properties/address/type", keyword: "type", params: { type: "string" } }], !1;
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
    } else
      return validate21.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }], !1;
  return validate21.errors = vErrors, errors === 0;
}
var isCallFits = validate23;
function validate23(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (errors === 0)
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.at === void 0 && (missing0 = "at") || data.boot === void 0 && (missing0 = "boot") || data.up === void 0 && (missing0 = "up"))
        return validate23.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }], !1;
      if (data.at !== void 0) {
        let data0 = data.at, _errs1 = errors;
        if (!(typeof data0 == "number" && isFinite(data0)))
          return validate23.errors = [{ instancePath: instancePath + "/at", schemaPath: "#/properties/at/type", keyword: "type", params: { type: "number" } }], !1;
        var valid0 = _errs1 === errors;
      } else
        var valid0 = !0;
      if (valid0) {
        if (data.boot !== void 0) {
          let _errs3 = errors;
          if (typeof data.boot != "string")
            return validate23.errors = [{ instancePath: instancePath + "/boot", schemaPath: "#/properties/boot/type", keyword: "type", params: { type: "string" } }], !1;
          var valid0 = _errs3 === errors;
        } else
          var valid0 = !0;
        if (valid0)
          if (data.up !== void 0) {
            let data2 = data.up, _errs5 = errors;
            if (!(typeof data2 == "number" && isFinite(data2)))
              return validate23.errors = [{ instancePath: instancePath + "/up", schemaPath: "#/properties/up/type", keyword: "type", params: { type: "number" } }], !1;
            var valid0 = _errs5 === errors;
          } else
            var valid0 = !0;
      }
    } else
      return validate23.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }], !1;
  return validate23.errors = vErrors, errors === 0;
}

export const domainFile: StoredFormat<DomainFile> = { name: "edgewise.record/1", fits: domainFileFits, expected }
export const journalFile: StoredFormat<JournalFile> = { name: "edgewise.journal/1", fits: journalFileFits, expected }
export const waveFile: StoredFormat<WaveFile> = { name: "edgewise.wave/1", fits: waveFileFits, expected }
export const rolloutFile: StoredFormat<RolloutFile> = { name: "edgewise.rollout/1", fits: rolloutFileFits, expected }
export const planFile: StoredFormat<PlanFile> = { name: "edgewise.plan/1", fits: planFileFits, expected }
export const isAddressFile: Validator<AddressFile> = isAddressFileFits
export const isCall: Validator<Call> = isCallFits
