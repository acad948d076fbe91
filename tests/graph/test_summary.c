#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/cells.h"
#include "graph/summary.h"
#include "graph/table.h"
#include "invented.h"

static void assert_summary(const clm__graph *graph, int columns, size_t optimizer_params,
                           const char *expected)
{
  clm__weights *weights = NULL;
  char *text = NULL;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  assert_int_equal(clm__summary(graph, weights, columns, optimizer_params, &text), CLM_OK);
  assert_string_equal(text, expected);
  clm__mem_free(text);
  clm__weights_destroy(weights);
}

static void a_sequential_model(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(true, clm__shape3(8, 8, 3));
  const int mixed = add_mix(graph, "花の分類器のとても長い名前の層", 0, 1000, CLM__LINEAR);
  graph->layers[mixed].trainable = false;
  const int norm = add_one(graph, &op_norm, "norm", mixed);
  (void)add_one(graph, &op_flat, "a_name_without_any_room_in_its_column", norm);
  assert_summary(graph, 80, 11,
                 "Model: \"model\"\n"
                 "┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓\n"
                 "┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃\n"
                 "┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩\n"
                 "│ 花の分類器のとても長い名前の層  │ (None, 8, 8, 1000)     │         4,000 │\n"
                 "│ (MixUp2D)                       │                        │               │\n"
                 "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                 "│ norm (Norm)                     │ (None, 8, 8, 1000)     │         2,000 │\n"
                 "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                 "│ a_name_without_any_room_in_its… │ (None, 64000)          │             0 │\n"
                 "│ (Flat)                          │                        │               │\n"
                 "└─────────────────────────────────┴────────────────────────┴───────────────┘\n"
                 " Total params: 6,011 (23.48 KB)\n"
                 " Trainable params: 1,000 (3.91 KB)\n"
                 " Non-trainable params: 5,000 (19.53 KB)\n"
                 " Optimizer params: 11 (48.00 B)\n");
  clm__graph_destroy(graph);
}

static void a_functional_model(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(false, clm__shape1(4));
  (void)add_sum(graph, "add", 0, 0);
  assert_summary(graph, 80, 0,
                 "Model: \"model\"\n"
                 "┏━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┓\n"
                 "┃ Layer (type)        ┃ Output Shape      ┃    Param # ┃ Connected to      ┃\n"
                 "┡━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━┩\n"
                 "│ image (InputLayer)  │ (None, 4)         │          0 │ -                 │\n"
                 "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                 "│ add (Sum)           │ (None, 4)         │          0 │ image[0][0],      │\n"
                 "│                     │                   │            │ image[0][0]       │\n"
                 "└─────────────────────┴───────────────────┴────────────┴───────────────────┘\n"
                 " Total params: 0 (0.00 B)\n"
                 " Trainable params: 0 (0.00 B)\n"
                 " Non-trainable params: 0 (0.00 B)\n");
  clm__graph_destroy(graph);
}

/* What Keras makes of different terminals. */
static void columns_have_keras_widths(void **state)
{
  static const struct {
    int columns;
    bool linear;
    int widths[4];
  } cases[] = {{60, true, {24, 17, 11}},       {80, true, {33, 24, 15}},
               {100, true, {38, 29, 17}},      {200, true, {38, 29, 17}},
               {60, false, {15, 14, 8, 14}},   {80, false, {21, 19, 12, 19}},
               {100, false, {27, 24, 16, 24}}, {200, false, {31, 27, 17, 28}}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    clm__graph *graph = new_graph(false, clm__shape1(4));
    if (!cases[i].linear) (void)add_sum(graph, "add", 0, 0);
    clm__weights *weights = NULL;
    char *text = NULL;
    assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
    assert_int_equal(clm__summary(graph, weights, cases[i].columns, 0, &text), CLM_OK);
    const char *at = strstr(text, "┏") + strlen("┏");
    for (int column = 0; column < (cases[i].linear ? 3 : 4); column++) {
      for (int stroke = 0; stroke < cases[i].widths[column]; stroke++, at += strlen("━"))
        assert_memory_equal(at, "━", strlen("━"));
      assert_memory_not_equal(at, "━", strlen("━"));
      at += strlen("┳");
    }
    clm__mem_free(text);
    clm__weights_destroy(weights);
    clm__graph_destroy(graph);
  }
}

static void narrow_terminals_do_no_harm(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(false, clm__shape1(4));
  (void)add_sum(graph, "加える", 0, 0);
  clm__weights *weights = NULL;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  for (int columns = -5; columns < 40; columns++) {
    char *text = NULL;
    assert_int_equal(clm__summary(graph, weights, columns, 0, &text), CLM_OK);
    clm__mem_free(text);
  }
  clm__weights_destroy(weights);
  clm__graph_destroy(graph);
}

static void cells_are_counted(void **state)
{
  static const struct {
    const char *text;
    int cells;
  } cases[] = {{"", 0},          {"abc", 3},      {"é", 1},
               {"e\xcc\x81", 1}, {"花", 2},       {"\xf0\x9f\x8c\xb8", 2},
               {"\xff\xfe", 2},  {"\xe8\x8a", 2}, {"\xc3(", 2}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(clm__cells_count(cases[i].text, strlen(cases[i].text)), cases[i].cells);
  assert_int_equal(clm__cells_fit("花花花", 9, 3), 3);
  assert_int_equal(clm__cells_fit("花花花", 9, 0), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sequential_model),        cmocka_unit_test(a_functional_model),
      cmocka_unit_test(columns_have_keras_widths), cmocka_unit_test(narrow_terminals_do_no_harm),
      cmocka_unit_test(cells_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
